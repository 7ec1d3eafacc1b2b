// Whether requests, constraints and whole messages stand in what was sent.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { escapeTags } from "@clew/plugin-sdk/transcript";
import type { Frame, SentRequest } from "./frame.ts";
import type { Recall } from "./recall.ts";
import type { Shown } from "./shown.ts";
import { textsOf } from "./texts.ts";

/** Characters by which a text that was shortened is still recognised. */
const RECOGNISED_BY = 120;

/** Pure. "none": there is nothing to look for. */
export function findRequest(
  shown: readonly Shown[],
  request: AgentMessage | undefined,
): "none" | "whole" | "shortened" | "missing" {
  const texts = request === undefined ? [] : textsOf(request).filter((text) => text.trim() !== "");
  if (texts.length === 0) return "none";
  if (texts.every((text) => stands(shown, text))) return "whole";
  return texts.some((text) => stands(shown, text.trim().slice(0, RECOGNISED_BY)))
    ? "shortened"
    : "missing";
}

/** As it is, or as a record quotes it: with the host's own tags escaped, its lines indented. */
function stands(shown: readonly Shown[], text: string): boolean {
  // The newest message first: that is where it stands as a rule.
  if (shown.findLast(({ texts }) => texts.includes(text)) !== undefined) return true;
  const forms = [text, escapeTags(text)].map(withoutIndent);
  return shown.some((one) => forms.some((form) => flatTextOf(one).includes(form)));
}

const flat = new WeakMap<Shown, string>();

function flatTextOf(shown: Shown): string {
  const known = flat.get(shown) ?? shown.texts.map(withoutIndent).join("\n");
  flat.set(shown, known);
  return known;
}

const withoutIndent = (text: string) => text.replace(/[^\S\n]*\n\s*/g, "\n").trim();

/** Constraints said before the call, and how many of them stand in it. Pure. */
export function countConstraints(
  { script }: Frame,
  { call, shown }: SentRequest,
): { part: number; whole: number } {
  const { history } = script.calls[call]!;
  const said = script.constraints.filter(({ saidIn }) => saidIn < history);
  return { part: said.filter(({ text }) => stands(shown, text)).length, whole: said.length };
}

/** Calls of a session at which every message is fetched back. */
const FETCHES = 3;

/** The last judged call, and some before it, evenly. Pure. */
export function placesToFetch({ calls }: Frame): ReadonlySet<number> {
  const judged = calls.flatMap((one, call) => (one?.isJudged ? [call] : []));
  return new Set(
    Array.from(
      { length: FETCHES },
      (_, part) => judged[Math.ceil(((part + 1) * judged.length) / FETCHES) - 1],
    ).filter((call) => call !== undefined),
  );
}

/** Bytes of the history that are shown whole or come back whole, and what reading them took. */
export async function bytesBack(
  { script }: Frame,
  { call, shown }: SentRequest,
  { recall, count }: { recall: Recall | undefined; count: (text: string) => number },
): Promise<Record<"bytes" | "readTokens", { part: number; whole: number }>> {
  const inView = new Set(shown.flatMap(({ texts }) => texts));
  const sum = { part: 0, whole: 0 };
  const read = { part: 0, whole: 0 };
  for (let place = 0; place < script.calls[call]!.history; place++) {
    const texts = textsOf(script.messages[place]!);
    const bytes = texts.reduce((total, text) => total + Buffer.byteLength(text), 0);
    sum.whole += bytes;
    if (bytes === 0) continue;
    if (texts.every((text) => inView.has(text))) sum.part += bytes;
    else if (recall !== undefined) {
      const back = await recall.read(place);
      if (holdsAll(back.texts, texts)) sum.part += bytes;
      read.part += count(back.answer);
      read.whole++;
    }
  }
  return { bytes: sum, readTokens: read };
}

const holdsAll = (answers: readonly string[], texts: readonly string[]): boolean =>
  texts.every((text) => answers.some((answer) => holdsText(answer, text)));

/** As it was, with the host's own tags escaped, or as a string in JSON. */
export const holdsText = (answer: string, text: string): boolean =>
  [text, escapeTags(text), JSON.stringify(text).slice(1, -1)].some((form) => answer.includes(form));

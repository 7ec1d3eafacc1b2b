// Measures how much of a session goes back to its models as it was.
import type { AgentMessage, AssistantMessage } from "@clew/plugin-sdk/core";
import { isRecord, modelProfile } from "@clew/plugin-sdk/host";
import type { JsonObject } from "@clew/providers/testing";
import { type Asked, type EmulatedModel, MODEL_LIMITS } from "./emulated-session.ts";

/** Sums over calls. */
export interface ReplayFigures {
  calls: number;
  switches: number;
  refused: number;
  /** Thoughts of the model that is asked, each as often as it is asked, if it takes them back. */
  produced: number;
  replayed: number;
  /** Tokens of the model's last prompt in the session, and those of them that it found again. */
  known: number;
  found: number;
  /** Messages of the model's last request that read otherwise in this one. */
  changed: string[];
}

export const noFigures = (): ReplayFigures => ({
  ...{ calls: 0, switches: 0, refused: 0, produced: 0, replayed: 0, known: 0, found: 0 },
  changed: [],
});

/** What was sent to a model last; one for each session. */
export type LastSent = Map<string, { messages: readonly string[]; tokens: number }>;

/** Counts one call in, `stored` being what was stored before its reply; says what was refused. */
export function countCall(
  figures: ReplayFigures,
  last: LastSent,
  { model, stored, asked }: { model: EmulatedModel; stored: readonly AgentMessage[]; asked: Asked },
): readonly string[] {
  const { request } = asked;
  figures.calls++;
  if (request === undefined) return [];
  const broken = request.violations.filter(({ rule }) => rule !== "assistant.both");
  const refused = [...broken.map(({ rule, text }) => `${rule}: ${text}`), ...request.changes];
  figures.refused += refused.length;
  const thoughts = thoughtsFor(model, stored);
  figures.produced += thoughts.length;
  figures.replayed += thoughts.filter((proof) => request.text.includes(proof)).length;

  const before = last.get(model.join(" "));
  const messages = messagesOf(request.body ?? {});
  const { bill } = request;
  if (before !== undefined && bill !== null) {
    if (keepsHistory(model)) {
      figures.known += before.tokens;
      figures.found += Math.min(bill.read, before.tokens);
    }
    // The newest one is held open: a person may speak right behind it.
    const at = before.messages.slice(0, -1).findIndex((text, index) => text !== messages[index]);
    if (at >= 0)
      figures.changed.push(`${model.join(" ")} ${at}: ${before.messages[at]} → ${messages[at]}`);
  }
  if (bill !== null)
    last.set(model.join(" "), { messages, tokens: bill.fresh + bill.read + bill.written });
  return refused.map((text) => `${model.join(" ")}: ${text}`);
}

const profileOf = ([provider, api, id]: EmulatedModel) =>
  modelProfile({ provider, api, id, ...MODEL_LIMITS });

/** False where one mark is all there is, and the system prompt has it. */
const keepsHistory = (model: EmulatedModel): boolean => profileOf(model).cache.marks !== 1;

/** What proves each thought of this very model, as it stands in a request. */
function thoughtsFor(model: EmulatedModel, stored: readonly AgentMessage[]): readonly string[] {
  const [provider, , id] = model;
  const { reasoning } = profileOf(model);
  if (reasoning.replay === "strip" || reasoning.replay === "tools") return [];
  return stored.flatMap((message) =>
    message.role === "assistant" && message.provider === provider && message.model === id
      ? proofsOf(message)
      : [],
  );
}

/**
 * What proves the thoughts of a reply. Gemini's are on what it said and called; its words are only
 * for people.
 */
export function proofsOf({ api, content, stopReason }: AssistantMessage): string[] {
  if (stopReason === "error" || stopReason === "aborted") return [];
  const isGoogle = api?.startsWith("google") === true;
  return content.flatMap((block) => {
    if (block.type === "toolCall") return block.thoughtSignature ?? [];
    if (block.type !== "thinking") return [];
    const { thinking, thinkingSignature: proof } = block;
    if (proof === undefined || proof === "") return isGoogle ? [] : JSON.stringify(thinking);
    return encryptedIn(proof) ?? proof;
  });
}

function encryptedIn(proof: string): string | undefined {
  if (!proof.startsWith("{")) return undefined;
  const item = JSON.parse(proof) as { encrypted_content?: string };
  return item.encrypted_content;
}

/** The list of messages of a body, whatever its wire calls it, without marks for the cache. */
function messagesOf(body: JsonObject): readonly string[] {
  const inner = isRecord(body.request) ? body.request : body;
  const list = inner.messages ?? inner.input ?? inner.contents;
  return Array.isArray(list) ? list.map((message) => JSON.stringify(withoutMarks(message))) : [];
}

function withoutMarks(value: unknown): unknown {
  if (Array.isArray(value))
    return value.filter((each) => !(isRecord(each) && "cachePoint" in each)).map(withoutMarks);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) =>
      key === "cache_control" || key === "prompt_cache_breakpoint"
        ? []
        : [[key, withoutMarks(inner)]],
    ),
  );
}

const percent = (part: number, whole: number) =>
  whole === 0 ? "nothing to count" : `${((100 * part) / whole).toFixed(3)} % of ${whole}`;

/** For people. */
export const describeFigures = (figures: ReplayFigures): string =>
  `${figures.calls} calls, ${figures.switches} switches, ${figures.refused} refused; thinking replayed: ${percent(figures.replayed, figures.produced)}; cache hit: ${percent(figures.found, figures.known)} tokens; prefixes that changed: ${figures.changed.length}`;

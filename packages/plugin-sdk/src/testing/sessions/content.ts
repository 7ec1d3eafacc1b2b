// Whether a message that an engine shows or keeps says what was said, field by field.
import type { AgentMessage } from "../../contract/message.ts";
import { isRecord } from "../../is-record.ts";
import { type AnyBlock, blocksOf } from "../../messages/blocks.ts";
import { textOf } from "../../transcript/text.ts";
import { marksIn } from "./marks.ts";

/**
 * How much of a message must be there: "whole" every word · "results" all but what tools returned,
 * which may be cut, and pictures and calls where something says that they were there · "parts" the
 * words may be cut, too.
 */
export type Strictness = "whole" | "results" | "parts";

/** Blocks a provider may or may not be given back; one that is shown is shown as it was. */
const OPTIONAL_BLOCKS = new Set(["thinking", "redacted_thinking", "provider"]);
/** What an engine may say in the place of what it cut, characters. */
const SENTENCE_CHARS = 400;

/**
 * What is wrong with `shown`, which stands for a message of which `versions` are all that was ever
 * stored; undefined = nothing is. A field may be missing, unless a model needs it; what is there is
 * as it was.
 */
export function contentFault(
  shown: AgentMessage,
  versions: readonly AgentMessage[],
  strictness: Strictness,
): string | undefined {
  let first: string | undefined;
  for (const version of versions) {
    const fault = faultBeside(shown, version, strictness);
    if (fault === undefined) return undefined;
    first ??= fault;
  }
  return first;
}

/** True when `shown` has the words, calls and pictures of `said`; `around`: or more words. */
export function hasWordsOf(shown: AgentMessage, said: AgentMessage, around = false): boolean {
  if (shown.role !== said.role || resultOf(shown) !== resultOf(said)) return false;
  const [a, b] = [textOf(shown).trim(), textOf(said).trim()];
  if (around ? b.length < LEAST_WORDS || !a.includes(b) : a !== b) return false;
  if (!("content" in shown && "content" in said)) return true;
  const [blocks, all] = [blocksOf(shown.content), blocksOf(said.content)];
  return ["toolCall", "image"].every((type) => sameBlocks(ofType(blocks, type), ofType(all, type)));
}

/** Characters by which a text is known that stands among others. */
export const LEAST_WORDS = 20;

const resultOf = (message: AgentMessage) =>
  message.role === "toolResult" ? message.toolCallId : "";

function faultBeside(
  shown: AgentMessage,
  said: AgentMessage,
  strictness: Strictness,
): string | undefined {
  if (shown.role !== said.role) return `its role is ${shown.role}`;
  const original = said as unknown as Record<string, unknown>;
  for (const [field, value] of Object.entries(shown)) {
    if (value === undefined || SAID.has(field) || field === "__openclaw") continue;
    // Without its calls it ended otherwise.
    if (field === "stopReason" && callsIn(shown) < callsIn(said)) continue;
    if (
      !(field in original) ? field === "isError" && value === true : differs(value, original[field])
    )
      return `its ${field} is ${short(value)}`;
  }
  for (const field of NEEDED)
    if (field in original && !(field in shown)) return `it has no ${field}`;
  return wordsFault(shown, said, strictness);
}

const callsIn = (message: AgentMessage): number =>
  "content" in message ? ofType(blocksOf(message.content), "toolCall").length : 0;

/** Fields that hold words. */
const SAID: ReadonlySet<string> = new Set(["content", "summary", "output", "command"]);
/** Fields without which a result answers nothing. */
const NEEDED = ["toolCallId", "toolName"] as const;

function wordsFault(
  shown: AgentMessage,
  said: AgentMessage,
  strictness: Strictness,
): string | undefined {
  if (!("content" in said)) {
    if (textOf(shown) === textOf(said)) return undefined;
    if (said.role === "compactionSummary" && strictness !== "parts" && holdsNothingOf(shown, said))
      return `it says ${short(textOf(shown))} where ${short(textOf(said))} was said`;
    return textFault(textOf(shown), textOf(said), { mayCut: strictness !== "whole" });
  }
  if (!("content" in shown)) return "it has no content";
  const [blocks, all] = [blocksOf(shown.content), blocksOf(said.content)];
  const kept = new Set(blocks.map(({ type }) => type));
  const expected = all.filter(({ type }) => !OPTIONAL_BLOCKS.has(type) || kept.has(type));
  if (sameBlocks(blocks, expected)) return undefined;
  for (const block of blocks.filter(({ type }) => OPTIONAL_BLOCKS.has(type)))
    if (!all.some((one) => isCopy(block, one))) return `its ${block.type} block is not as it was`;
  const mayCut = strictness === "parts" || (strictness === "results" && said.role === "toolResult");
  const images = ofType(blocks, "image");
  if (!images.every((image) => ofType(all, "image").some((one) => isCopy(image, one))))
    return "its picture is not as it was";
  const losses = lossesIn(blocks, all);
  const more = losses.length > 0 ? around(shown, said) : undefined;
  const own = (block: AnyBlock) => isSentence(block) && !all.some((one) => isCopy(block, one));
  const sentences =
    more ??
    blocks
      .filter(own)
      .map(({ text }) => text)
      .join(" ");
  for (const { says, fault } of losses)
    if (!(mayCut && says === OF_PICTURES) && (strictness === "whole" || !says.test(sentences)))
      return fault;
  const stands = (block: AnyBlock) =>
    own(block) && losses.some(({ says }) => says.test(String(block.text)));
  const rest = more === undefined ? blocks.filter((block) => !stands(block)) : blocks;
  const text = textOf({ ...shown, content: rest } as AgentMessage);
  return textFault(text, textOf(said), { mayCut, isLess: losses.length > 0 });
}

/** Whatever is cut, something of what it stands for is left. */
function holdsNothingOf(shown: AgentMessage, said: AgentMessage): boolean {
  const [text, marks] = [textOf(shown), marksIn(textOf(said))];
  return marks.length > 0 && !marks.some((mark) => text.includes(mark));
}

/** What is missing that is no text, and how an engine says in its place that it was there. */
function lossesIn(
  shown: readonly AnyBlock[],
  said: readonly AnyBlock[],
): { says: RegExp; fault: string }[] {
  const [calls, wanted] = [ofType(shown, "toolCall"), ofType(said, "toolCall")];
  const images = [ofType(shown, "image").length, ofType(said, "image").length] as const;
  const [isOther, hasLess] = [!sameBlocks(calls, wanted), calls.length < wanted.length];
  const isPart = hasLess && calls.every((block) => wanted.some((one) => isCopy(block, one)));
  const fault = "its tool calls are not as they were";
  return [
    ...(isOther ? [{ says: isPart ? OF_CALLS : NOTHING, fault }] : []),
    ...(images[0] < images[1] ? [{ says: OF_PICTURES, fault: "its picture is missing" }] : []),
  ];
}

/** How whoever shows no picture says that there was one. */
const OF_PICTURES = /\b(picture|image|photo|screenshot|drawing|attachment|media)s?\b/i;

/** The same of calls, which go together with their results. */
const OF_CALLS = /\b(tools?|calls?|results?)\b/i;
/** What is another than it was no sentence stands for. */
const NOTHING = /(?!)/;

const isSentence = ({ type, text }: AnyBlock): boolean =>
  type === "text" && String(text).length <= SENTENCE_CHARS;

/** What is said beside what was said; undefined where that is not there as it was. */
function around(shown: AgentMessage, said: AgentMessage): string | undefined {
  const [text, was] = [textOf(shown), textOf(said)];
  return text.includes(was) ? text.replace(was, "") : undefined;
}

/** `isLess`: something of it is missing that is no text. */
function textFault(
  mayBeIllFormed: string,
  was: string,
  { mayCut, isLess = false }: { mayCut: boolean; isLess?: boolean },
): string | undefined {
  // Half a sign is none: what cannot be stored as UTF-8 no model is shown either.
  const [shown, said] = [mayBeIllFormed.toWellFormed(), was.toWellFormed()];
  // Whoever says more around it, such as who spoke, still shows it.
  if (shown === said) return undefined;
  if (said.trim() !== "" && shown.includes(said)) {
    const more = shown.replace(said, "");
    return !isLess && SAYS_CUT.test(more) && !OF_OTHERS.test(more)
      ? `it says ${short(more)} around what was said, though nothing is missing`
      : undefined;
  }
  if (said.trim() === "" && shown.length <= SENTENCE_CHARS) return undefined;
  if (shown.trim() === "") return `it says nothing where ${short(said)} was said`;
  const [a, b] = quotes(shown, said);
  if (!mayCut || shown.length > Math.max(said.length, SENTENCE_CHARS) + SENTENCE_CHARS)
    return `it says ${a} where ${b} was said`;
  return isSilentCut(shown.trim(), said.trim())
    ? `it is cut from ${said.length} to ${shown.length} characters and does not say so`
    : undefined;
}

/** How whoever cuts says that something is missing. */
const SAYS_CUT =
  /\b(truncated|omitted|shortened|elided|not shown|(characters|chars|bytes|lines|tokens) (were |are )?(cut|removed|missing|left out|dropped|more))\b/i;

/** Whoever says what is missing before a message says it of others. */
const OF_OTHERS = /\b(messages|turns|history|conversation|summary)\b/i;

/** Nothing but the beginning of what was said, and its end. */
function isSilentCut(shown: string, said: string): boolean {
  if (shown.length >= said.length) return false;
  let [start, end] = [0, 0];
  while (start < shown.length && shown[start] === said[start]) start++;
  while (end < shown.length && shown.at(-1 - end) === said.at(-1 - end)) end++;
  return start + end >= shown.length;
}

const ofType = (blocks: readonly AnyBlock[], type: string) =>
  blocks.filter((block) => block.type === type);

/** Of the same kinds in the same order, each a copy; blank texts count for nothing. */
function sameBlocks(shown: readonly AnyBlock[], said: readonly AnyBlock[]): boolean {
  const [a, b] = [shown.filter(isFilled), said.filter(isFilled)];
  return a.length === b.length && a.every((block, index) => isCopy(block, b[index]!));
}

const isFilled = ({ type, text }: AnyBlock) => type !== "text" || String(text ?? "").trim() !== "";

/** What a model needs of a block, by its kind; of other kinds, everything. */
const ESSENTIAL: Readonly<Record<string, readonly string[]>> = {
  text: ["text"],
  image: ["data", "mimeType"],
  // A provider refuses a step, or a thought, whose signature is lost.
  toolCall: ["id", "name", "arguments", "thoughtSignature"],
  thinking: ["thinking", "thinkingSignature"],
};

function isCopy(shown: AnyBlock, said: AnyBlock): boolean {
  const needed = ESSENTIAL[said.type] ?? Object.keys(said);
  return (
    shown.type === said.type &&
    needed.every((key) => key in shown || said[key] === undefined) &&
    Object.entries(shown).every(
      ([key, value]) => value === undefined || !(key in said) || !differs(value, said[key]),
    )
  );
}

/** As JSON, whatever the order of keys. */
export function differs(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return false;
  if (Array.isArray(a) && Array.isArray(b))
    return a.length !== b.length || a.some((one, index) => differs(one, b[index]));
  if (!isRecord(a) || !isRecord(b)) return true;
  for (const key of Object.keys(a)) if (differs(a[key], b[key])) return true;
  for (const key of Object.keys(b)) if (b[key] !== undefined && !Object.hasOwn(a, key)) return true;
  return false;
}

/** A value in a sentence. */
export function short(value: unknown): string {
  const text = (typeof value === "string" ? value : (JSON.stringify(value) ?? String(value)))
    .replace(/\s+/g, " ")
    .trim();
  return `"${text.length > 60 ? `${text.slice(0, 59)}…` : text}"`;
}

/** Characters of a quote. */
const QUOTED = 60;
/** Those before the first that differs. */
const BEFORE = 20;

/** Two texts that differ, from there on where their beginnings are no longer alike. */
export function quotes(a: string, b: string): [string, string] {
  const [first, second] = [short(a), short(b)];
  if (first !== second) return [first, second];
  let at = 0;
  while (a[at] === b[at]) at++;
  const start = Math.max(0, at - BEFORE);
  const quoteOf = (text: string) => {
    const part = text.slice(start, start + QUOTED);
    const [before, after] = [start > 0 ? "…" : "", text.length > start + QUOTED ? "…" : ""];
    return JSON.stringify(`${before}${part.toWellFormed()}${after}`);
  };
  return [quoteOf(a), quoteOf(b)];
}

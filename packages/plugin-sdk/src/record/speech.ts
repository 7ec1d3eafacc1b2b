// Which sentences of a user message its person wrote.
import type { UserMessage } from "../contract/message.ts";
import { type Steps, stepsAtOnce } from "../slices.ts";
import { headOf, tailOf, textOf } from "../transcript/text.ts";
import { forceSteps, isBinding } from "./cues.ts";

/** Of a longer message its beginning and its end are read, as much of each. */
const MAX_CHARS = 20_000;
const OPENING = /<([a-z][\w-]*)(?:\s[^<>]*)?>/g;
const CLOSING = /<\/([a-z][\w-]*)>/g;
const BY_A_PROGRAM = /[_-]/;
/** Tags around what somebody asks for, whoever wrote them. */
const ASKS =
  /rule|instruction|constraint|guideline|requirement|preference|convention|polic(?:y|ies)/;
const FENCE = "```";
/** What may follow a fence that opens: a language, and nothing else on the line. */
const INFO = /^[\w+#.-]*\s*$/;
const BLANK_LINE = /\n[ \t]*\n/g;
/** Quoted, or copied from a terminal or a log. */
const COPIED =
  /^\s*(?:[>❯|]|\$(?=\s)|\+(?=\S)|[-@]{2,}|time=|level=|\[?\d{4}-\d\d-\d\d[T ]\d\d:|at \S+ ?\(|(?:[-*]\s*)?(?:system|assistant|human|tool)\s*:)/i;
/** A plus before a blank is a bullet, but not in these. */
const IN_DIFF = /^(?:diff --git |@@ |\+\+\+ |--- \S)/m;
const PLUS = /^\s*\+/;
/** What stands before the words of a copied line. */
const MARK = /^\s*(?:(?:[>$❯|+]|-{2,})\s*|\[?\d{4}-\d\d-\d\d[T ][\d:.,Z+-]+\]?:?\s*)+/;
const SPEAKER = /^\s*(?:[-*]\s*)?(?:system|assistant|human|tool)\s*:/i;
const BULLET = /^\s*(?:[-*•·–>#+]+|\d+[.)、]|\[[ x]\])\s+/;
/** Marks that may end a sentence, with the room behind them; each run is read once. */
const MARKS = /[.!?…؟۔।]+["»”)]?\s*|[。！？]/gu;
const SAID_BEFORE = /[\p{L}\p{M}\p{N})»”"']$/u;
const GOES_ON = /^(?:\p{Ll}|$)/u;
const ABBREVIATED =
  /(?:^|[\s(])(?:\p{L}|\p{Lu}\p{Ll}|\p{N}+|e\.g|i\.e|z\.b|d\.h|т\.е|etc|bzw|usw|vs|ca|nr|incl|inkl|approx|resp)\.$/u;
/** Characters in which the first letter of a line is looked for. */
const MAX_START = 20;
const STARTS_SMALL = /^\P{L}*\p{Ll}/u;
const WORDS = /\p{L}{2}/u;
/** Less of a sentence in letters is a path, a table or numbers. */
const LETTER_SHARE = 0.35;

/**
 * The sentences and list items that a person wrote, each on one line. Without what a client put
 * into the message in a tag of its own ("<local-command-caveat>"), what is quoted or copied, and
 * code; of a message that is nothing else, what forbids or demands in it. None of a message that no
 * person sent.
 */
export const sentencesSaid = (message: UserMessage): string[] =>
  stepsAtOnce(sentenceSteps(message));

/** The same in steps. */
export function* sentenceSteps(message: UserMessage): Steps<string[]> {
  if (!isByPerson(message)) return [];
  const text = withoutWrappers(endsOf(textOf(message)));
  yield;
  const own = sentencesOf(text);
  yield;
  return own.length > 0 ? own : yield* demandSteps(text);
}

const endsOf = (text: string) =>
  text.length <= 2 * MAX_CHARS ? text : `${headOf(text, MAX_CHARS)}\n${tailOf(text, MAX_CHARS)}`;

/** Of lines that are all quoted, copied or code. One that names its speaker is alone, or copied. */
function* demandSteps(text: string): Steps<string[]> {
  const alone = text.trim().includes("\n") ? text : text.replace(SPEAKER, "");
  const lines = alone.split("\n").map((line) => line.replace(MARK, "").replace(/^\s*```.*/, ""));
  yield;
  const demands: string[] = [];
  for (const sentence of sentencesOf(lines.join("\n")))
    if (isBinding(yield* forceSteps(sentence))) demands.push(sentence);
  return demands;
}

/** Sentences and list items of `text`, without code blocks and copied lines, each on one line. */
export function sentencesOf(text: string): string[] {
  const isDiff = IN_DIFF.test(text);
  return withoutCode(text)
    .split(/\n+/)
    .filter((line) => !COPIED.test(line) && !(isDiff && PLUS.test(line)))
    .flatMap((line) => joinAbbreviated(pieces(line.replace(BULLET, ""))))
    .map((sentence) => sentence.replace(/\s+/g, " ").trim())
    .filter(isSentence);
}

/**
 * Code stands between two fences. One that nothing closes hides what is up to the next empty line;
 * in the midst of a line it hides nothing, unless another one follows on it.
 */
function withoutCode(text: string): string {
  let rest = "";
  let from = 0;
  let [close, lineEnd] = [0, -1];
  for (let open = text.indexOf(FENCE); open >= 0; ) {
    const inside = open + FENCE.length;
    if (close >= 0 && close < inside) close = text.indexOf(FENCE, inside);
    if (lineEnd < inside) lineEnd = lineEndAt(text, inside);
    const closesHere = close >= 0 && close < lineEnd;
    let next = inside;
    if (closesHere || isBlock(text, { open, lineEnd })) {
      rest += text.slice(from, open) + (closesHere ? " " : "\n");
      BLANK_LINE.lastIndex = inside;
      from = close >= 0 ? close + FENCE.length : (BLANK_LINE.exec(text)?.index ?? text.length);
      next = from;
    }
    open = text.indexOf(FENCE, next);
  }
  return rest + text.slice(from);
}

function lineEndAt(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end < 0 ? text.length : end;
}

/** The fence begins its line, or ends it. */
function isBlock(text: string, { open, lineEnd }: { open: number; lineEnd: number }): boolean {
  const lineStart = text.lastIndexOf("\n", open) + 1;
  return (
    text.slice(lineStart, open).trim() === "" ||
    (lineEnd < text.length && INFO.test(text.slice(open + FENCE.length, lineEnd)))
  );
}

function isByPerson({ __openclaw, provenance }: UserMessage): boolean {
  return (
    __openclaw?.kind === undefined &&
    provenance?.kind !== "internal_system" &&
    provenance?.kind !== "inter_session"
  );
}

/** Tags with a hyphen or an underline in their names are written by programs. Each is read once. */
function withoutWrappers(text: string): string {
  const neverClosed = new Set<string>();
  let rest = "";
  let from = 0;
  OPENING.lastIndex = 0;
  for (let match = OPENING.exec(text); match !== null; match = OPENING.exec(text)) {
    const name = match[1] ?? "";
    if (!BY_A_PROGRAM.test(name)) continue;
    if (ASKS.test(name)) {
      rest += `${text.slice(from, match.index)}\n`;
      from = OPENING.lastIndex;
      continue;
    }
    const close = `</${match[1]}>`;
    const end = neverClosed.has(close) ? -1 : text.indexOf(close, OPENING.lastIndex);
    if (end < 0) neverClosed.add(close);
    else {
      rest += `${text.slice(from, match.index)}\n`;
      from = end + close.length;
      OPENING.lastIndex = from;
    }
  }
  return (rest + text.slice(from)).replace(CLOSING, (tag, name: string) =>
    BY_A_PROGRAM.test(name) && ASKS.test(name) ? "\n" : tag,
  );
}

/**
 * `line` cut behind each mark that ends a sentence; before a small letter only if it begins with
 * one itself.
 */
function pieces(line: string): string[] {
  const isSmall = STARTS_SMALL.test(line.slice(0, MAX_START));
  const found: string[] = [];
  let from = 0;
  for (const { 0: marks, index } of line.matchAll(MARKS)) {
    if (!endsSentence(line, { index, marks, isSmall })) continue;
    found.push(line.slice(from, index + marks.trimEnd().length));
    from = index + marks.length;
  }
  found.push(line.slice(from));
  return found;
}

function endsSentence(
  line: string,
  { index, marks, isSmall }: { index: number; marks: string; isSmall: boolean },
): boolean {
  if (/^[。！？]/u.test(marks)) return true;
  const end = index + marks.length;
  return (
    /\s$/u.test(marks) &&
    SAID_BEFORE.test(line.slice(Math.max(0, index - 2), index)) &&
    (isSmall || !GOES_ON.test(line.slice(end, end + 2)))
  );
}

/** "z. B. so" and "am 12. Juni" are one piece. */
function joinAbbreviated(pieces: readonly string[]): string[] {
  const joined: string[][] = [];
  let goesOn = false;
  for (const piece of pieces) {
    if (goesOn) joined.at(-1)?.push(piece);
    else joined.push([piece]);
    goesOn = ABBREVIATED.test(piece);
  }
  return joined.map((sentence) => sentence.join(" "));
}

function isSentence(sentence: string): boolean {
  if (!WORDS.test(sentence)) return false;
  const visible = sentence.replace(/\s/g, "").length;
  const letters = sentence.match(/[\p{L}\p{M}]/gu)?.length ?? 0;
  return letters >= LETTER_SHARE * visible;
}

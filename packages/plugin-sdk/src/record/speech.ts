// Which sentences of a user message its person wrote.
import type { UserMessage } from "../contract/message.ts";
import { headOf, textOf } from "../transcript/text.ts";

const MAX_CHARS = 20_000;
const OPENING = /<([a-z][\w-]*)(?:\s[^<>]*)?>/g;
const BY_A_PROGRAM = /[_-]/;
const CODE = /```[\s\S]*?(?:```|$)/g;
/** Quoted, or copied from a terminal or a log. */
const COPIED = /^\s*(?:[>$❯|+]|[-@]{2,}|time=|level=|\[?\d{4}-\d\d-\d\d[T ]\d\d:|at \S+ ?\()/;
const BULLET = /^\s*(?:[-*•·–>#]+|\d+[.)、]|\[[ x]\])\s+/;
/** Marks that may end a sentence, with the room behind them; each run is read once. */
const MARKS = /[.!?…؟۔।]+["»”)]?\s*|[。！？]/gu;
const SAID_BEFORE = /[\p{L}\p{M}\p{N})»”"']$/u;
const GOES_ON = /^(?:\p{Ll}|$)/u;
const ABBREVIATED = /(?:^|[\s(])(?:\p{L}|\p{Lu}\p{Ll}|\p{N}+)\.$/u;
const WORDS = /\p{L}{2}/u;
/** Less of a sentence in letters is a path, a table or numbers. */
const LETTER_SHARE = 0.35;

/**
 * The sentences and list items that a person wrote, each on one line. Without what a client put
 * into the message in a tag of its own ("<local-command-caveat>"), what is quoted or copied, and
 * code. None of a message that no person sent.
 */
export function sentencesSaid(message: UserMessage): string[] {
  return isByPerson(message)
    ? sentencesOf(withoutWrappers(headOf(textOf(message), MAX_CHARS)))
    : [];
}

/** Sentences and list items of `text`, without code blocks and copied lines, each on one line. */
export function sentencesOf(text: string): string[] {
  return text
    .replace(CODE, "\n")
    .split(/\n+/)
    .filter((line) => !COPIED.test(line))
    .flatMap((line) => joinAbbreviated(pieces(line.replace(BULLET, ""))))
    .map((sentence) => sentence.replace(/\s+/g, " ").trim())
    .filter(isSentence);
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
    if (!BY_A_PROGRAM.test(match[1] ?? "")) continue;
    const close = `</${match[1]}>`;
    const end = neverClosed.has(close) ? -1 : text.indexOf(close, OPENING.lastIndex);
    if (end < 0) neverClosed.add(close);
    else {
      rest += `${text.slice(from, match.index)}\n`;
      from = end + close.length;
      OPENING.lastIndex = from;
    }
  }
  return rest + text.slice(from);
}

/** `line` cut behind each mark that ends a sentence; not before a small letter. */
function pieces(line: string): string[] {
  const found: string[] = [];
  let from = 0;
  for (const { 0: marks, index } of line.matchAll(MARKS)) {
    if (!endsSentence(line, index, marks)) continue;
    found.push(line.slice(from, index + marks.trimEnd().length));
    from = index + marks.length;
  }
  found.push(line.slice(from));
  return found;
}

function endsSentence(line: string, index: number, marks: string): boolean {
  if (/^[。！？]/u.test(marks)) return true;
  const end = index + marks.length;
  return (
    /\s$/u.test(marks) &&
    SAID_BEFORE.test(line.slice(Math.max(0, index - 2), index)) &&
    !GOES_ON.test(line.slice(end, end + 2))
  );
}

/** "z. B. so" and "am 12. Juni" are one piece. */
function joinAbbreviated(pieces: readonly string[]): string[] {
  const joined: string[] = [];
  for (const piece of pieces) {
    const before = joined.at(-1);
    if (before !== undefined && ABBREVIATED.test(before))
      joined[joined.length - 1] = `${before} ${piece}`;
    else joined.push(piece);
  }
  return joined;
}

function isSentence(sentence: string): boolean {
  if (!WORDS.test(sentence)) return false;
  const visible = sentence.replace(/\s/g, "").length;
  const letters = sentence.match(/[\p{L}\p{M}]/gu)?.length ?? 0;
  return letters >= LETTER_SHARE * visible;
}

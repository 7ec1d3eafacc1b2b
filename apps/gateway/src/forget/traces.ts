// Knows by its words what is to be forgotten, in whichever file they stand.
import { isMatched, type Matcher, readingsOf, textsIn, wordsOf } from "@clew/lossless-engine/store";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { FORGOTTEN } from "../text/forgotten.ts";

const PLACEHOLDERS: ReadonlySet<string> = new Set([FORGOTTEN]);

/** Says whether a text of a file holds what is to be forgotten. */
export type Traces = (text: string) => boolean;

/** Shorter lines may be anybody's, so that only some are looked for, and only as they stand. */
const LEAST_CHARS = 20;
/** Quotations leave out the end. */
const MOST_CHARS = 100;
const MOST_LINES = 4_000;

/** A longer text is known by its long lines. */
const SHORT_TEXT_CHARS = 100;
/** Of letters and digits, like most passwords: looked for between other words, too. */
const TELLING = /^(?=.*\p{L})(?=.*\p{N}).{6,}$/u;
/** Words alone, or a number: looked for where they are all that somebody said. */
const WHOLE = /^(?:.{8,}|\p{N}{4,})$/u;
/** What the host and its tools write into many messages. */
const OF_THE_HOST =
  /^(?:\[Inter-session message[\] ]|\d+ found, |Nothing found\.|There is no (?:tool|message) |Unknown tool\b)/;

/**
 * Of what messages said, lines that are long enough to be theirs, and how they begin; of short ones
 * all that is telling; of a text the text. Files may have them as JSON, also as JSON in JSON.
 */
export function tracesOf(texts: readonly string[], matcher: Matcher | null): Traces {
  const heads = linesOf(texts, (text) => text.replaceAll(/\s+/gu, " "));
  const lines = heads.filter(({ length }) => length >= LEAST_CHARS).slice(0, MOST_LINES);
  const short = linesOf(texts.filter(({ length }) => length < SHORT_TEXT_CHARS))
    .filter(({ length }) => length < LEAST_CHARS)
    .slice(0, MOST_LINES);
  const telling = short.filter((line) => TELLING.test(line));
  const whole = short.filter((line) => WHOLE.test(line) && !TELLING.test(line));
  return (text) => {
    if (matcher !== null && isMatched(text, matcher)) return true;
    return readingsOf(text).some(
      (each) =>
        lines.some((line) => each.includes(line)) ||
        telling.some((line) => stands(each, line, WORD_SIGN)) ||
        whole.some((line) => stands(each, line, NO_END)),
    );
  };
}

/** Each once: of every text its lines, and what `more` makes of it. Absent: nothing more. */
const linesOf = (texts: readonly string[], more?: (text: string) => string): string[] => [
  ...new Set(
    texts
      .flatMap((text) => [...(more === undefined ? [] : [more(text)]), ...text.split("\n")])
      .map(headOf)
      .filter((line) => !OF_THE_HOST.test(line)),
  ),
];

const WORD_SIGN = /[\p{L}\p{N}_]/u;
/** A text ends with its line, or its string in JSON. */
const NO_END = /[^"\n]/;

/** True: it stands there, and what `goesOn` names is neither before nor behind it. */
function stands(text: string, line: string, goesOn: RegExp): boolean {
  for (let at = text.indexOf(line); at >= 0; at = text.indexOf(line, at + 1)) {
    const [before, behind] = [text[at - 1] ?? "\n", text[at + line.length] ?? "\n"];
    if (!goesOn.test(before) && !goesOn.test(behind)) return true;
  }
  return false;
}

const headOf = (line: string): string => line.trim().slice(0, MOST_CHARS).toWellFormed();

/** What an entry says; not what it, its run or its model is known by. */
export function wordsIn(entry: TranscriptEntry): string[] {
  if (entry.type === "message") return wordsOf(entry.message);
  const { summary, content, label, name, details, data } = entry as unknown as Record<
    string,
    unknown
  >;
  return [...textsIn([summary, content, label, name]), ...sentencesIn([details, data])].filter(
    (text) => !PLACEHOLDERS.has(text),
  );
}

/** Of what plugins note for themselves: a text without a blank may be a name of theirs. */
const sentencesIn = (value: unknown): string[] =>
  textsIn(value).filter((text) => /\S\s+\S/.test(text));

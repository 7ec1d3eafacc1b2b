// Knows by its words what is to be forgotten, in whichever file they stand.
import { isMatched, type Matcher, readingsOf, textsIn, wordsOf } from "@clew/lossless-engine/store";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { FORGOTTEN } from "./redact-entry.ts";

const PLACEHOLDERS: ReadonlySet<string> = new Set([FORGOTTEN]);

/** Says whether a text of a file holds what is to be forgotten. */
export type Traces = (text: string) => boolean;

/** Shorter lines may be anybody's. */
const LEAST_CHARS = 20;
/** Quotations leave out the end. */
const MOST_CHARS = 100;
const MOST_LINES = 4_000;

/**
 * Of what messages said, lines that are long enough to be theirs, and how they begin; of a text the
 * text. Files may have them as JSON, also as JSON in JSON.
 */
export function tracesOf(texts: readonly string[], matcher: Matcher | null): Traces {
  const heads = texts.flatMap((text) => [
    headOf(text.replaceAll(/\s+/gu, " ")),
    ...text.split("\n").map(headOf),
  ]);
  const lines = [...new Set(heads.filter(({ length }) => length >= LEAST_CHARS))].slice(
    ...[0, MOST_LINES],
  );
  return (text) =>
    (matcher !== null && isMatched(text, matcher)) ||
    readingsOf(text).some((each) => lines.some((line) => each.includes(line)));
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

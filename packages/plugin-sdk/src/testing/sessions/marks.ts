// Signs in every text by which it is known whose it is, wherever it turns up.

import type { Salt } from "../case-context.ts";
import { chanceOf } from "./random.ts";

const RUN_DIGITS = 9;
const SESSION_DIGITS = 7;

/**
 * A number as letters, never the same one twice in a row: whoever counts words, letters or digits
 * finds as much in one number as in any other, so a session that is run again is as large.
 */
const spell = (value: number, digits: number): string =>
  [...String(value).padStart(digits, "0")]
    .map((digit, place) => (place % 2 === 0 ? "abcdefghij" : "klmnopqrst")[Number(digit)])
    .join("");

/** Those that a run can have. */
const SESSIONS = 100;

/** Makes words, each of which tells a session from every other one, and the same ones again. */
export function tagsOf({ base, run }: Salt): () => string {
  const word = wordOf(base);
  let sessions = run * SESSIONS;
  return () => `${word}x${spell(sessions++, SESSION_DIGITS)}`;
}

/** The word that all tags of a base begin with. */
export function wordOf(base: string): string {
  let sum = 0x811c9dc5;
  for (const char of base) sum = Math.imul(sum ^ char.codePointAt(0)!, 0x01000193);
  return spell(chanceOf(sum).below(10 ** RUN_DIGITS), RUN_DIGITS);
}

/** One that nobody has had. */
export const newBase = (): string => Math.floor(Math.random() * 2 ** 48).toString(36);

/** As it is printed, and given again. */
export const saltInWords = ({ base, run }: Salt): string => `${base}.${run}`;

/** Of a salt that was printed; another text is the base of its own first run. */
export function saltOf(text: string): Salt {
  const [, base, run] = /^(.*)\.(\d{1,5})$/s.exec(text) ?? [];
  return { base: base ?? text, run: Number(run ?? 0) };
}

export const markOf = (tag: string, number: number): string => `«${tag}.${number}»`;

export const MARK = /«(\w+)\.(\d+)»/g;

/** The first mark in `text`. */
export const markIn = (text: string): string | undefined => text.match(MARK)?.[0];

/** Every mark in `text`, once. */
export const marksIn = (text: string): readonly string[] => [...new Set(text.match(MARK))];

/** The first mark in `text` that is none of the first ones of each session in `tags`. */
export function strangeMark(text: string, tags: ReadonlyMap<string, number>): string | undefined {
  for (const [mark, tag, number] of text.matchAll(MARK))
    if (!(Number(number) < (tags.get(tag!) ?? 0))) return mark;
  return undefined;
}

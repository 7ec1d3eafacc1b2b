// Signs in every text by which it is known whose it is, wherever it turns up.

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

/** One run's, so that engines with one store for all runs cannot take one for another. */
const RUN = spell(Math.floor(Math.random() * 10 ** RUN_DIGITS), RUN_DIGITS);
let sessions = 0;

/** Tells a session from every other one, also from those of other processes. */
export const newTag = (): string => `${RUN}x${spell(sessions++, SESSION_DIGITS)}`;

export const markOf = (tag: string, number: number): string => `«${tag}.${number}»`;

const MARK = /«(\w+)\.\d+»/g;

/** The first mark in `text`. */
export const markIn = (text: string): string | undefined => text.match(MARK)?.[0];

/** Every mark in `text`, once. */
export const marksIn = (text: string): readonly string[] => [...new Set(text.match(MARK))];

/** The first mark in `text` that is of none of the sessions `tags`. */
export function strangeMark(text: string, tags: ReadonlySet<string>): string | undefined {
  for (const [mark, tag] of text.matchAll(MARK)) if (!tags.has(tag!)) return mark;
  return undefined;
}

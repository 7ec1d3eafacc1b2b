// Signs in every text by which it is known whose it is, wherever it turns up.

/** One run's, so that engines with one store for all runs cannot take one for another. */
const RUN = Math.floor(Math.random() * 2 ** 32).toString(36);
let sessions = 0;

/** Tells a session from every other one, also from those of other processes. */
export const newTag = (): string => `${RUN}x${(sessions++).toString(36)}`;

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

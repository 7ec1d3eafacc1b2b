// Decides which line of the history a person is shown.

export interface History {
  /** Oldest first. */
  entries: readonly string[];
  /** Of the entry that is shown; null = what is being written. */
  at: number | null;
  /** What was being written before. */
  kept: string;
  search: Search | null;
}

export interface Search {
  words: string;
  /** Of the entry that was found; null = there is none. */
  at: number | null;
}

export const MOST_REMEMBERED = 2000;

export const historyOf = (entries: readonly string[]): History => ({
  ...{ entries, at: null, kept: "", search: null },
});

/** Pure. What a person would not look for again is left out: the same twice, or nothing. */
export function withEntry(history: History, text: string): History {
  const { entries } = history;
  const isNew = isRemembered(text) && entries.at(-1) !== text;
  return historyOf(isNew ? [...entries, text].slice(-MOST_REMEMBERED) : entries);
}

/** Pure. What begins with a space is for nobody's memory, as in shells. */
export const isRemembered = (text: string): boolean => text.trim() !== "" && !text.startsWith(" ");

/** Pure. An older (-1) or a newer (1) entry in place of `written`; undefined: there is none. */
export function step(
  history: History,
  by: -1 | 1,
  written: string,
): { history: History; text: string } | undefined {
  const { entries, at, kept } = history;
  if (at === null && by === 1) return undefined;
  const to = (at ?? entries.length) + by;
  if (to < 0) return undefined;
  if (to >= entries.length) return { history: { ...history, at: null, kept: "" }, text: kept };
  const next = { ...history, at: to, kept: at === null ? written : kept };
  return { history: next, text: entries[to]! };
}

/** Pure. The newest entry before `before` that holds the words; null = there is none. */
export function find(
  entries: readonly string[],
  words: string,
  before = entries.length,
): number | null {
  if (words === "") return null;
  const wanted = words.toLowerCase();
  const found = entries
    .slice(0, before)
    .findLastIndex((each) => each.toLowerCase().includes(wanted));
  return found < 0 ? null : found;
}

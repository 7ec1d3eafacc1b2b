// What may stand where the cursor is, and how a person chooses of it.
import type { Draft } from "./draft.ts";

export interface Menu {
  options: readonly Option[];
  /** Of the option that stands in the draft; null = none is chosen yet. */
  chosen: number | null;
  /** Where the options begin in the draft's text. */
  from: number;
  /** What the options are for; nothing in front of the cursor was changed since. */
  draft: Draft;
}

export interface Option {
  text: string;
  /** Beside it, for people. */
  about?: string | undefined;
}

export interface Completion {
  from: number;
  options: readonly Option[];
}

/** Pure. What all have in common is taken; where that says nothing new, there is a choice. */
export function planCompletion(
  draft: Draft,
  { from, options }: Completion,
): { draft: Draft; menu: Menu | null } {
  const [only] = options;
  if (only === undefined) return { draft, menu: null };
  if (options.length === 1) {
    const end = /[/=]$/.test(only.text) ? "" : " ";
    return { draft: put(draft, from, `${only.text}${end}`), menu: null };
  }
  const common = commonStart(options.map(({ text }) => text));
  const isNews = common.length > draft.cursor - from;
  const next = isNews ? put(draft, from, common) : draft;
  return { draft: next, menu: { options, chosen: null, from, draft: next } };
}

/** Pure. */
export function choose(menu: Menu, by: -1 | 1): { draft: Draft; menu: Menu } {
  const { options, chosen, from, draft } = menu;
  const count = options.length;
  const next = chosen === null ? (by === 1 ? 0 : count - 1) : (chosen + by + count) % count;
  return { draft: put(draft, from, options[next]!.text), menu: { ...menu, chosen: next } };
}

function put({ text, cursor }: Draft, from: number, inserted: string): Draft {
  return {
    text: text.slice(0, from) + inserted + text.slice(cursor),
    cursor: from + inserted.length,
  };
}

function commonStart(texts: readonly string[]): string {
  const [first = "", ...others] = texts;
  let length = first.length;
  for (const other of others) while (!other.startsWith(first.slice(0, length))) length--;
  // Half of a surrogate pair is no text.
  return first.slice(0, length).replace(/[\ud800-\udbff]$/, "");
}

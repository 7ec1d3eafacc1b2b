// What a log of turns that were cut off must say, and what is wrong with one.

/** Appends of a turn: a prompt, a call, its result, the reply. */
export const PARTS = 4;

/** One append of a turn; turns count from 1, parts from 0. */
export interface TurnPart {
  turn: number;
  part: number;
}

export const textOf = ({ turn, part }: TurnPart): string => `${turn}.${part}`;

/** Where an entry belongs, and what follows it; "" = before everything. */
export function placeOf(text: string): { at: number; next: TurnPart } {
  const [turn = 0, part = PARTS - 1] = text === "" ? [] : text.split(".").map(Number);
  const next = part === PARTS - 1 ? { turn: turn + 1, part: 0 } : { turn, part: part + 1 };
  return { at: turn * PARTS + part, next };
}

export interface Damage {
  entries: number;
  /** Turns that were acknowledged, and are not there whole. */
  lost: string[];
  /** Entries that are there once more. */
  doubled: string[];
  /** Entries that stand after a later one, or follow a gap. */
  misplaced: string[];
}

/** `done` are the turns whose last append was acknowledged. */
export function judge(texts: readonly string[], done: Iterable<number>): Damage {
  const seen = new Set<string>();
  const doubled: string[] = [];
  const misplaced: string[] = [];
  let expected = textOf({ turn: 1, part: 0 });
  for (const text of texts) {
    if (seen.has(text)) doubled.push(text);
    else if (text !== expected) misplaced.push(text);
    seen.add(text);
    expected = textOf(placeOf(text).next);
  }
  const parts = Array.from({ length: PARTS }, (_, part) => part);
  const lost = [...done]
    .filter((turn) => !parts.every((part) => seen.has(textOf({ turn, part }))))
    .map(String);
  return { entries: texts.length, lost, doubled, misplaced };
}

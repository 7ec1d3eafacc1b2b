// Which entries of a session are its branch, as ranges of their numbers.

/** From and to, both included; to is null up to the newest entry. */
export type OpenRange = readonly [from: number, to: number | null];
/** From and to, both included. */
export type Range = readonly [from: number, to: number];

/** The same ranges when `head` is the newest entry; empty ones are left out. */
export const closed = (branch: readonly OpenRange[], head: number): Range[] =>
  branch.map(([from, to]): Range => [from, to ?? head]).filter(([from, to]) => to >= from);

export const countOf = (ranges: readonly Range[]): number =>
  ranges.reduce((sum, [from, to]) => sum + to - from + 1, 0);

/** The first `count` entries. */
export function firstOf(ranges: readonly Range[], count: number): Range[] {
  let left = count;
  return ranges.flatMap(([from, to]): Range[] => {
    const take = Math.min(left, to - from + 1);
    left -= take;
    return take > 0 ? [[from, from + take - 1]] : [];
  });
}

/** All but the first `count` entries. */
export function withoutFirst(ranges: readonly Range[], count: number): Range[] {
  let left = count;
  return ranges.flatMap(([from, to]): Range[] => {
    const skip = Math.min(left, to - from + 1);
    left -= skip;
    return from + skip <= to ? [[from + skip, to]] : [];
  });
}

/** The branch when what comes after `head` follows these ranges. */
export function followedFrom(ranges: readonly Range[], head: number): OpenRange[] {
  const last = ranges.at(-1);
  if (last?.[1] === head) return [...ranges.slice(0, -1), [last[0], null]];
  return [...ranges, [head + 1, null]];
}

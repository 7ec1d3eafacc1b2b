// Says at which places of a log the entries of its branch are.

/** Pure. From the root, places counted from 1; the last range is open, as what comes follows it. */
export function branchPlaces(
  entries: readonly { id: string; parentId: string | null }[],
): [from: number, to: number | null][] {
  const last = entries.length;
  if (last === 0) return [[1, null]];
  const placeOf = new Map(entries.map(({ id }, index) => [id, index + 1]));
  const path: number[] = [];
  const seen = new Set<number>();
  let at = placeOf.get(entries[last - 1]!.id);
  while (at !== undefined && !seen.has(at)) {
    seen.add(at);
    path.push(at);
    const { parentId } = entries[at - 1]!;
    at = parentId === null ? undefined : placeOf.get(parentId);
  }
  const ranges: [number, number | null][] = [];
  for (const place of path.reverse()) {
    const range = ranges.at(-1);
    if (range !== undefined && range[1] === place - 1) range[1] = place;
    else ranges.push([place, place]);
  }
  const end = ranges.at(-1)!;
  // What comes is stored behind all, and follows the leaf.
  if (end[1] === last) end[1] = null;
  else ranges.push([last + 1, null]);
  return ranges;
}

// The longest list that two lists share in order.

/**
 * For places of `next`, the place in `before` that each corresponds to, so that as many as possible
 * correspond and none crosses another. Fast while most items occur once.
 */
export function commonOrder(
  before: readonly string[],
  next: readonly string[],
): Map<number, number> {
  const places = new Map<string, number[]>();
  for (const [place, item] of before.entries())
    places.set(item, [place, ...(places.get(item) ?? []).slice(0, MOST_PLACES)]);
  // Each link ends the longest chain of its length that ends earliest.
  const links: Link[] = [];
  // From the last place on, so that one item joins no chain twice.
  for (const [index, item] of next.entries())
    for (const place of places.get(item) ?? []) {
      const length = lengthBefore(links, place);
      // Of two items that would do, the earlier one corresponds.
      if (links[length]?.place !== place)
        links[length] = { place, index, before: links[length - 1] };
    }
  const common = new Map<number, number>();
  for (let link = links.at(-1); link !== undefined; link = link.before)
    common.set(link.index, link.place);
  return common;
}

/** Of an item that is everywhere, the newest places count. */
const MOST_PLACES = 32;

interface Link {
  place: number;
  index: number;
  before: Link | undefined;
}

/** How many links end before this place. */
function lengthBefore(links: readonly Link[], place: number): number {
  let low = 0;
  let high = links.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (links[middle]!.place < place) low = middle + 1;
    else high = middle;
  }
  return low;
}

// Maps a long list in pieces, and a short one at once.
import type { Steps } from "@clew/plugin-sdk/host";

/** So many are made at a time. */
const PIECE = 256;

/** As `map` does, which no plugin that changes how lists are gone through can break. */
export function* mapSteps<Item, Made>(
  items: readonly Item[],
  make: (item: Item, index: number) => Made,
): Steps<Made[]> {
  let made: Made[] = [];
  for (let from = 0; from < items.length; from += PIECE) {
    made = made.concat(items.slice(from, from + PIECE).map((item, at) => make(item, from + at)));
    yield;
  }
  return made;
}

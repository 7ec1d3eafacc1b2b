// Decides the order of what two records of one session tell, each message once.
import { beginningOf, type NamedMessage } from "../../messages/name.ts";

/** What a message of a database is paired by. */
export interface Foreign {
  /** The id that its entry has in the transcript. Null: that is not known. */
  readonly entryId: string | null;
  /** See `keyOf`. */
  readonly key: string;
}

/** What the database tells, what the transcript, or both; null = that one does not. */
export type Merged<Item extends Foreign> = readonly (
  | { readonly foreign: Item; readonly told: null }
  | { readonly foreign: Item | null; readonly told: NamedMessage }
)[];

/** The merged list. */
export interface MergePlan<Item extends Foreign> {
  readonly items: Merged<Item>;
  /** How many of the database's messages the transcript tells, too. */
  readonly shared: number;
}

/**
 * Pure. Where both tell a message it is the transcript's, which has it whole, with its id and time.
 * Times of the database are those of writing, so words and order tell which is which: the longest
 * row of messages that both tell in the same order is shared.
 */
export function planMerge<Item extends Foreign>(
  foreign: readonly Item[],
  told: readonly NamedMessage[],
): MergePlan<Item> {
  const pairs = longestRow(candidatesOf(foreign, told));
  const items: Merged<Item>[number][] = [];
  let [ofForeign, ofTold] = [0, 0];
  const upTo = (foreignEnd: number, toldEnd: number) => {
    for (; ofForeign < foreignEnd; ofForeign++)
      items.push({ foreign: foreign[ofForeign]!, told: null });
    for (; ofTold < toldEnd; ofTold++) items.push({ foreign: null, told: told[ofTold]! });
  };
  for (const [foreignAt, toldAt] of pairs) {
    upTo(foreignAt, toldAt);
    items.push({ foreign: foreign[foreignAt]!, told: told[toldAt]! });
    [ofForeign, ofTold] = [foreignAt + 1, toldAt + 1];
  }
  upTo(foreign.length, told.length);
  return { items, shared: pairs.length };
}

/** Pure. Copies of one message have the same. */
export const keyOf = (message: NamedMessage["message"]): string =>
  `${message.role} ${beginningOf(message)}`;

type Pair = readonly [foreign: number, told: number];

/** Of words that are said more often on both sides only these places from either end count. */
const MOST_PLACES = 64;

/** For each of the database's messages the places in the transcript where it may stand. */
function candidatesOf(
  foreign: readonly Foreign[],
  told: readonly NamedMessage[],
): readonly (readonly number[])[] {
  const byName = new Map(told.map(({ name }, at) => [name, at]));
  const byWords = new Map<string, number[]>();
  for (const [at, { message }] of told.entries()) {
    const places = byWords.get(keyOf(message));
    if (places === undefined) byWords.set(keyOf(message), [at]);
    else places.push(at);
  }
  return foreign.map(({ entryId, key }) => {
    const named = entryId === null ? undefined : byName.get(entryId);
    if (named !== undefined) return [named];
    const places = byWords.get(key) ?? [];
    return places.length <= 2 * MOST_PLACES
      ? places
      : [...places.slice(0, MOST_PLACES), ...places.slice(-MOST_PLACES)];
  });
}

/** A pair, and the row that it ends. */
interface Row {
  readonly foreign: number;
  readonly told: number;
  readonly before: Row | undefined;
}

/** As many pairs as possible, each behind the one before on both sides (Hunt and Szymanski). */
function longestRow(candidates: readonly (readonly number[])[]): readonly Pair[] {
  /** By length: the row of so many pairs that ends the earliest. */
  const rows: Row[] = [];
  // Backwards, so that a message is paired once.
  for (const [foreign, places] of candidates.entries())
    for (const told of places.toReversed()) {
      let [low, high] = [0, rows.length];
      while (low < high) {
        const middle = (low + high) >>> 1;
        if (rows[middle]!.told < told) low = middle + 1;
        else high = middle;
      }
      rows[low] = { foreign, told, before: rows[low - 1] };
    }
  const pairs: Pair[] = [];
  for (let row = rows.at(-1); row !== undefined; row = row.before)
    pairs.push([row.foreign, row.told]);
  return pairs.reverse();
}

// Keeps which messages hold which trigrams, the newest in leaves and all others in groups.
import {
  BUCKETS,
  bucketOf,
  bucketWithout,
  keysOf,
  LEAF_SPAN,
  leafWithout,
  placesInBucket,
  placesInLeaf,
  writeGroup,
  writeLeaf,
} from "./postings.ts";
import type { Sql } from "./store.ts";

/** Bytes of leaves that make a group: some milliseconds' work. */
const GROUP_BYTES = 256_000;
/** Leaves may be short; more of them than that are a group, however few bytes they have. */
const MOST_LEAVES = 64;
/** Keys that are looked up: what holds all of these hardly lacks another. */
const MOST_KEYS = 12;

/** Texts of messages that follow the newest leaf, by their numbers, as many as a leaf has. */
export function addLeaf(sql: Sql, first: number, texts: readonly (string | undefined)[]): void {
  const postings = writeLeaf(texts);
  if (postings.length === 0) return;
  sql("INSERT INTO trigram_leaf (first, postings) VALUES (?, ?)").run(first, postings);
}

/** Makes the oldest leaves one group, where there are enough of them. True: it did. */
export function groupLeaves(sql: Sql): boolean {
  const sizes = sql("SELECT first, length(postings) AS bytes FROM trigram_leaf ORDER BY first")
    .all()
    .map(({ first, bytes }) => ({ first: Number(first), bytes: Number(bytes) }));
  const end = planGroup(sizes);
  if (end === 0) return false;
  const first = sizes[0]!.first;
  const last = sizes[end - 1]!.first;
  const leaves = sql(
    "SELECT first, postings FROM trigram_leaf WHERE first <= ? ORDER BY first",
  ).all(last);
  const buckets = writeGroup(
    leaves.map((row) => ({
      leaf: row.postings as Uint8Array,
      offset: Number(row.first) - first,
    })),
  );
  const insert = sql("INSERT INTO trigram_bucket (id, postings) VALUES (?, ?)");
  for (const [bucket, postings] of buckets) insert.run(first * BUCKETS + bucket, postings);
  sql("INSERT INTO trigram_group (first) VALUES (?)").run(first);
  sql("DELETE FROM trigram_leaf WHERE first <= ?").run(last);
  return true;
}

/** Takes messages out of leaves and groups, as if they had held nothing. */
export function forgetTrigrams(sql: Sql, numbers: readonly number[]): void {
  const inLeaves = byHolder(numbers, (seq) => {
    const { first } = sql("SELECT max(first) AS first FROM trigram_leaf WHERE first <= ?").get(
      seq,
    )!;
    return first !== null && seq - Number(first) < LEAF_SPAN ? Number(first) : undefined;
  });
  for (const [first, places] of inLeaves) {
    const row = sql("SELECT postings FROM trigram_leaf WHERE first = ?").get(first)!;
    const postings = leafWithout(row.postings as Uint8Array, places);
    if (postings.length === 0) sql("DELETE FROM trigram_leaf WHERE first = ?").run(first);
    else sql("UPDATE trigram_leaf SET postings = ? WHERE first = ?").run(postings, first);
  }
  const inGroups = byHolder(numbers, (seq) => {
    const { first } = sql("SELECT max(first) AS first FROM trigram_group WHERE first <= ?").get(
      seq,
    )!;
    return first === null ? undefined : Number(first);
  });
  for (const [first, places] of inGroups)
    for (let bucket = 0; bucket < BUCKETS; bucket++) {
      const id = first * BUCKETS + bucket;
      const row = sql("SELECT postings FROM trigram_bucket WHERE id = ?").get(id);
      if (row === undefined) continue;
      const postings = bucketWithout(row.postings as Uint8Array, bucket, places);
      if (postings.length === 0) sql("DELETE FROM trigram_bucket WHERE id = ?").run(id);
      else sql("UPDATE trigram_bucket SET postings = ? WHERE id = ?").run(postings, id);
    }
}

/** Takes out leaves and groups from the one that may hold this message on; where that begins. */
export function forgetTrigramsFrom(sql: Sql, seq: number): number {
  const { first } = sql(`
    SELECT max(first) AS first FROM (
      SELECT first FROM trigram_leaf WHERE first <= ?1
      UNION ALL SELECT first FROM trigram_group WHERE first <= ?1
    )
  `).get(seq)!;
  const from = first === null ? seq : Number(first);
  sql("DELETE FROM trigram_leaf WHERE first >= ?").run(from);
  sql("DELETE FROM trigram_group WHERE first >= ?").run(from);
  sql("DELETE FROM trigram_bucket WHERE id >= ?").run(from * BUCKETS);
  return from;
}

/** By the number that a leaf or group begins with: places in it. */
function byHolder(
  numbers: readonly number[],
  firstOf: (seq: number) => number | undefined,
): Map<number, Set<number>> {
  const held = new Map<number, Set<number>>();
  for (const seq of numbers) {
    const first = firstOf(seq);
    if (first !== undefined) held.set(first, (held.get(first) ?? new Set()).add(seq - first));
  }
  return held;
}

/** A place is written in two bytes. */
const MOST_SPAN = 60_000;

/** Pure. How many of the leaves, oldest first, make a group; 0 = none yet. */
function planGroup(leaves: readonly { first: number; bytes: number }[]): number {
  let total = 0;
  for (const [at, { first, bytes }] of leaves.entries()) {
    if (first - leaves[0]!.first > MOST_SPAN) return at;
    total += bytes;
    if (total >= GROUP_BYTES || at + 1 === MOST_LEAVES) return at + 1;
  }
  return 0;
}

/**
 * Numbers of messages before `before` that may hold all trigrams of `text`, newest first; none for
 * a text that is shorter than one.
 */
export function* mayHold(sql: Sql, text: string, before: number): Generator<number> {
  const keys = spread(keysOf(text));
  if (keys.length === 0) return;
  for (const { first, postings } of sql(
    "SELECT first, postings FROM trigram_leaf WHERE first < ? ORDER BY first DESC",
  ).all(before))
    for (const place of placesInLeaf(postings as Uint8Array, keys))
      if (Number(first) + place < before) yield Number(first) + place;
  const wanted = keys.map((key) => ({ key, found: 0 }));
  for (const { first } of sql(
    "SELECT first FROM trigram_group WHERE first < ? ORDER BY first DESC",
  ).all(before)) {
    const places = placesInGroup(sql, Number(first), wanted);
    for (const place of places.toReversed())
      if (Number(first) + place < before) yield Number(first) + place;
    // The rarest first: most groups are done with it.
    wanted.sort((a, b) => a.found - b.found);
  }
}

function placesInGroup(
  sql: Sql,
  first: number,
  wanted: readonly { key: number; found: number }[],
): readonly number[] {
  let holders: readonly number[] | undefined;
  for (const each of wanted) {
    const row = sql("SELECT postings FROM trigram_bucket WHERE id = ?").get(
      first * BUCKETS + bucketOf(each.key),
    );
    const places = row === undefined ? [] : placesInBucket(row.postings as Uint8Array, each.key);
    each.found += places.length;
    const known: ReadonlySet<number> | undefined = holders && new Set(holders);
    holders = known === undefined ? places : places.filter((place) => known.has(place));
    if (holders.length === 0) return [];
  }
  return holders ?? [];
}

/** Pure. Some from everywhere, where there are many. */
const spread = (keys: readonly number[]): number[] =>
  keys.length <= MOST_KEYS
    ? [...keys]
    : Array.from(
        { length: MOST_KEYS },
        (_, at) => keys[Math.floor((at * keys.length) / MOST_KEYS)]!,
      );

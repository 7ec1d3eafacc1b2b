// Reads what the index of trigrams holds of each message.
import { BUCKETS, eachInBucket, eachInLeaf, keysOf } from "../postings.ts";
import type { Sql } from "../sql.ts";
import { type Fingerprints, hashOf } from "./fingerprints.ts";

const [ONE, OTHER] = [0x1b873593, 0x52dce729];

/** Leaves, then groups; `stray` is told of a bucket that no group has. */
export function* readTrigrams(
  sql: Sql,
  into: Fingerprints,
  stray: (bucket: number) => void,
): Generator<void> {
  const tell = (first: number) => (key: number, place: number) =>
    into.add(first + place, hashOf(key, ONE), hashOf(key, OTHER));
  for (const { first, postings } of sql("SELECT * FROM trigram_leaf").iterate()) {
    eachInLeaf(bytesIn(postings), tell(Number(first)));
    yield;
  }
  const groups = new Set(
    sql("SELECT first FROM trigram_group")
      .all()
      .map(({ first }) => Number(first)),
  );
  for (const { id, postings } of sql("SELECT * FROM trigram_bucket").iterate()) {
    const bucket = Number(id) % BUCKETS;
    const first = (Number(id) - bucket) / BUCKETS;
    if (groups.has(first)) eachInBucket(bytesIn(postings), bucket, tell(first));
    else stray(Number(id));
    yield;
  }
}

/** What the index has to hold of a text. */
export function addTrigrams(message: number, text: string, into: Fingerprints): void {
  for (const key of keysOf(text)) into.add(message, hashOf(key, ONE), hashOf(key, OTHER));
}

const bytesIn = (value: unknown): Uint8Array =>
  value instanceof Uint8Array ? value : new Uint8Array();

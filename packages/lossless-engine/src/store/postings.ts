// How it is written which of some messages hold which trigrams.
import { ByteReader, ByteWriter } from "./byte-writer.ts";
import { KEYS, writeKeys } from "./trigram-keys.ts";

/** Messages of a leaf. */
export const LEAF_SPAN = 32;
/** Every group has so many buckets, each with the keys of a range. */
export const BUCKETS = 128;

const KEYS_OF_BUCKET = KEYS / BUCKETS;
/** Room that is used again and again; every function leaves these three empty. */
const masks = new Uint32Array(KEYS);
const counts = new Uint32Array(KEYS);
/** A bit for each key whose mask is not 0. */
const present = new Uint32Array(KEYS / 32);
const out = new ByteWriter();
const textKeys = createRoom(Uint32Array);
const leafKeys = createRoom(Uint32Array);
const leafMasks = createRoom(Uint32Array);
const sorted = createRoom(Uint16Array);

/** Gives the same array again as long as it is large enough: what was in it is gone then. */
function createRoom<Numbers extends { readonly length: number }>(
  make: new (length: number) => Numbers,
): (length: number) => Numbers {
  let room = new make(1 << 12);
  return (length) => {
    if (room.length < length) room = new make(2 * length);
    return room;
  };
}

/** The bucket that holds a key. */
export const bucketOf = (key: number): number => Math.floor(key / KEYS_OF_BUCKET);

/** The keys of a text, each once. */
export function keysOf(text: string): number[] {
  const keys = textKeys(text.length);
  return [...new Set(keys.subarray(0, writeKeys(text, keys)))];
}

/** The trigrams of at most `LEAF_SPAN` texts, by their places; undefined is a place without one. */
export function writeLeaf(texts: readonly (string | undefined)[]): Uint8Array {
  for (const [place, text = ""] of texts.entries()) {
    const bit = 1 << place;
    const keys = textKeys(text.length);
    const length = writeKeys(text, keys);
    for (let at = 0; at < length; at++) {
      const key = keys[at]!;
      const mask = masks[key]!;
      if ((mask & bit) !== 0) continue;
      if (mask === 0) present[key >>> 5]! |= 1 << (key & 31);
      masks[key] = mask | bit;
    }
  }
  for (let word = 0, before = 0; word < present.length; word++) {
    let bits = present[word]!;
    if (bits === 0) continue;
    present[word] = 0;
    for (; bits !== 0; bits &= bits - 1) {
      const key = 32 * word + lowest(bits);
      writeEntry(key - before, masks[key]!);
      masks[key] = 0;
      before = key;
    }
  }
  return out.take();
}

function writeEntry(distance: number, mask: number): void {
  const isOne = (mask & (mask - 1)) === 0;
  out.number(2 * distance + (isOne ? 0 : 1));
  if (isOne) out.byte(lowest(mask));
  else out.mask(mask);
}

const lowest = (mask: number) => 31 - Math.clz32(mask & -mask);

/**
 * Its keys in order, and for each a mask of the places that hold it, behind the first `from` of
 * `leafKeys` and `leafMasks`. Gives where they end.
 */
function readLeaf(leaf: Uint8Array, keys: Uint32Array, holders: Uint32Array, from: number): number {
  const reader = new ByteReader(leaf);
  let at = from;
  for (let key = 0; !reader.isAtEnd(); at++) {
    const head = reader.number();
    key += head >>> 1;
    keys[at] = key;
    holders[at] = (head & 1) === 0 ? 1 << reader.byte() : reader.mask();
  }
  return at;
}

/** An entry takes so many bytes or more. */
const LEAST_BYTES = 2;

/** Places of a leaf that hold all of these keys, newest first. */
export function placesInLeaf(leaf: Uint8Array, wanted: readonly number[]): number[] {
  const room = leaf.length / LEAST_BYTES;
  const [keys, holders] = [leafKeys(room), leafMasks(room)];
  const end = readLeaf(leaf, keys, holders, 0);
  let all = -1;
  for (const key of wanted) {
    const at = placeIn(keys, end, key);
    if (at === end || keys[at] !== key) return [];
    all &= holders[at]!;
  }
  return Array.from({ length: LEAF_SPAN }, (_, at) => LEAF_SPAN - 1 - at).filter(
    (place) => (all & (1 << place)) !== 0,
  );
}

/** Of the first that is not smaller. */
function placeIn(ordered: Uint32Array, end: number, value: number): number {
  let [low, high] = [0, end];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (ordered[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** A leaf, and where its first place stands in its group. */
export interface PlacedLeaf {
  readonly leaf: Uint8Array;
  readonly offset: number;
}

/** The same as the leaves hold, by bucket; those that hold nothing are not there. */
export function writeGroup(leaves: readonly PlacedLeaf[]): Map<number, Uint8Array> {
  const places = sortByKey(leaves);
  const buckets = new Map<number, Uint8Array>();
  for (let bucket = 0, begin = 0; bucket < BUCKETS; bucket++) {
    const first = begin;
    let before = bucket * KEYS_OF_BUCKET;
    for (let key = before; key < (bucket + 1) * KEYS_OF_BUCKET; key++) {
      const end = counts[key]!;
      counts[key] = 0;
      if (end <= begin) continue;
      out.number(key - before);
      writePlaces(places, begin, end);
      before = key;
      begin = end;
    }
    if (begin > first) buckets.set(bucket, out.take());
  }
  return buckets;
}

/** One by one, or a bit for each place, whichever is shorter. */
function writePlaces(places: Uint16Array, begin: number, end: number): void {
  const bytes = (places[end - 1]! >>> 3) + 1;
  if (bytes < end - begin) {
    out.number(2 * bytes + 1);
    for (let byte = 0, at = begin; byte < bytes; byte++) {
      let bits = 0;
      for (; at < end && places[at]! >>> 3 === byte; at++) bits |= 1 << (places[at]! & 7);
      out.byte(bits);
    }
    return;
  }
  out.number(2 * (end - begin));
  for (let at = begin, last = 0; at < end; at++) {
    out.number(places[at]! - last);
    last = places[at]!;
  }
}

/** Counted first, so that every key has its room; `counts` says then where its places end. */
function sortByKey(leaves: readonly PlacedLeaf[]): Uint16Array {
  const room = leaves.reduce((sum, { leaf }) => sum + leaf.length, 0) / LEAST_BYTES;
  const [keys, holders] = [leafKeys(room), leafMasks(room)];
  const ends: number[] = [];
  for (const { leaf } of leaves) ends.push(readLeaf(leaf, keys, holders, ends.at(-1) ?? 0));
  const end = ends.at(-1) ?? 0;
  for (let at = 0; at < end; at++) counts[keys[at]!]! += bitsOf(holders[at]!);
  let total = 0;
  for (let key = 0; key < KEYS; key++) {
    const count = counts[key]!;
    counts[key] = total;
    total += count;
  }
  const places = sorted(total);
  let at = 0;
  for (const [index, { offset }] of leaves.entries())
    for (; at < ends[index]!; at++) {
      const key = keys[at]!;
      let next = counts[key]!;
      for (let rest = holders[at]!; rest !== 0; rest &= rest - 1)
        places[next++] = offset + lowest(rest);
      counts[key] = next;
    }
  return places;
}

/** How many are set. */
function bitsOf(mask: number): number {
  const pairs = mask - ((mask >>> 1) & 0x55555555);
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** The same leaf, in which these places hold nothing. */
export function leafWithout(leaf: Uint8Array, gone: ReadonlySet<number>): Uint8Array {
  const room = leaf.length / LEAST_BYTES;
  const [keys, holders] = [leafKeys(room), leafMasks(room)];
  const end = readLeaf(leaf, keys, holders, 0);
  let lost = 0;
  for (const place of gone) lost |= 1 << place;
  let before = 0;
  for (let at = 0; at < end; at++) {
    const mask = holders[at]! & ~lost;
    if (mask === 0) continue;
    writeEntry(keys[at]! - before, mask);
    before = keys[at]!;
  }
  return out.take();
}

/** The same of a bucket of a group. */
export function bucketWithout(
  bytes: Uint8Array,
  bucket: number,
  gone: ReadonlySet<number>,
): Uint8Array {
  const reader = new ByteReader(bytes);
  let key = bucket * KEYS_OF_BUCKET;
  let before = key;
  while (!reader.isAtEnd()) {
    key += reader.number();
    const head = reader.number();
    const read = (head & 1) === 1 ? placesInBits : placesInList;
    const kept = read(reader, head >>> 1).filter((place) => !gone.has(place));
    if (kept.length === 0) continue;
    out.number(key - before);
    writePlaces(Uint16Array.from(kept), 0, kept.length);
    before = key;
  }
  return out.take();
}

/** Places that hold a key, oldest first, by the bucket that it belongs to. */
export function placesInBucket(bytes: Uint8Array, key: number): number[] {
  const reader = new ByteReader(bytes);
  for (let at = bucketOf(key) * KEYS_OF_BUCKET; !reader.isAtEnd(); ) {
    at += reader.number();
    if (at > key) return [];
    const head = reader.number();
    const count = head >>> 1;
    const isBits = (head & 1) === 1;
    if (at === key) return isBits ? placesInBits(reader, count) : placesInList(reader, count);
    if (isBits) reader.skip(count);
    else for (let left = count; left > 0; left--) reader.number();
  }
  return [];
}

function placesInBits(reader: ByteReader, bytes: number): number[] {
  const places: number[] = [];
  for (let byte = 0; byte < bytes; byte++)
    for (let rest = reader.byte(); rest !== 0; rest &= rest - 1)
      places.push(8 * byte + lowest(rest));
  return places;
}

function placesInList(reader: ByteReader, count: number): number[] {
  const places: number[] = [];
  for (let left = count, place = 0; left > 0; left--) {
    place += reader.number();
    places.push(place);
  }
  return places;
}

/** Told of each key of a leaf or a bucket, and of a place that holds it. */
export type Entry = (key: number, place: number) => void;

/** All that a leaf says, also one that is damaged: then it says something else. */
export function eachInLeaf(leaf: Uint8Array, tell: Entry): void {
  const reader = new ByteReader(leaf);
  for (let key = 0; !reader.isAtEnd(); ) {
    const head = reader.number();
    key += head >>> 1;
    const mask = (head & 1) === 0 ? 1 << reader.byte() : reader.mask();
    for (let rest = mask; rest !== 0; rest &= rest - 1) tell(key, lowest(rest));
  }
}

/** The same of a bucket. */
export function eachInBucket(bytes: Uint8Array, bucket: number, tell: Entry): void {
  const reader = new ByteReader(bytes);
  for (let key = bucket * KEYS_OF_BUCKET; !reader.isAtEnd(); ) {
    key += reader.number();
    const head = reader.number();
    let left = head >>> 1;
    if ((head & 1) === 1)
      for (let byte = 0; byte < left && !reader.isAtEnd(); byte++)
        for (let rest = reader.byte(); rest !== 0; rest &= rest - 1)
          tell(key, 8 * byte + lowest(rest));
    else
      for (let place = 0; left > 0 && !reader.isAtEnd(); left--) {
        place += reader.number();
        tell(key, place);
      }
  }
}

// Tells how a database stands.
import { statSync } from "node:fs";
import { patiently } from "../patiently.ts";
import { holdingsOf, timesOf } from "../store/health.ts";
import { backlogOf } from "../store/search-index.ts";
import type { Store } from "../store/store.ts";
import { absentCounts } from "../store/tombstones.ts";
import { describeStore, freeBytesOf } from "./describe-store.ts";

/** How a database stands. */
export interface StoreStatus {
  /** Absolute path. */
  readonly file: string;
  /** How many there are. */
  readonly messages: number;
  /** Histories; a session has a new one after a reset. */
  readonly conversations: number;
  /** Of the file. */
  readonly bytes: number;
  /** Of what was written lately and is not in its place yet. */
  readonly journalBytes: number;
  /** Messages that the search index lacks: they are read before the next search. */
  readonly unindexed: number;
  /** How many of the messages were forgotten. */
  readonly forgotten: number;
  /** How many are no longer kept, for their age or the size of the file. */
  readonly expired: number;
  /** Of the file's bytes, those that hold nothing, and are used again. */
  readonly freeBytes: number;
  /** Time of the oldest message, ms since the epoch. Null: none has one. */
  readonly first: number | null;
  /** The same of the newest. */
  readonly last: number | null;
  /** The most of it for people, in a line. */
  readonly text: string;
}

export async function statusOf(store: Store): Promise<StoreStatus> {
  const text = `${await describeStore(store)}.`;
  const { messages, conversations, bytes } = await patiently(() => holdingsOf(store));
  const { first, last } = await patiently(() => timesOf(store));
  const unindexed = await patiently(() => backlogOf(store));
  const journalBytes = statSync(`${store.path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  const absent = await patiently(() => store.read(absentCounts));
  const freeBytes = await patiently(() => freeBytesOf(store, bytes));
  const counts = { messages, conversations, bytes, journalBytes, unindexed, freeBytes, ...absent };
  return { file: store.path, ...counts, first, last, text };
}

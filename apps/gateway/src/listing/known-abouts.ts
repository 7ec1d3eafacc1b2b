// Keeps what was read of sessions for lists, and reads again only of those that changed.
import { lstatSync } from "node:fs";
import type { SessionSummary } from "../sessions/list-sessions.ts";
import {
  type FirstExchange,
  readFirstExchange,
  readToldByDoor,
  type ToldByDoor,
} from "./read-about.ts";

export interface KnownAbouts {
  /** Undefined: the door wrote nothing of it. */
  toldByDoor(row: SessionSummary): ToldByDoor | undefined;
  firstExchange(row: SessionSummary): FirstExchange | undefined;
  /** What is known of others is forgotten. */
  keepOnly(rows: readonly SessionSummary[]): void;
}

/** As the file was when it was looked at last. */
interface Known {
  bytes: number;
  updatedAt: string;
  inode: bigint | undefined;
  door?: ToldByDoor | undefined;
  exchange?: FirstExchange | undefined;
}

export function createKnownAbouts(): KnownAbouts {
  const known = new Map<string, Known>();
  const of = (row: SessionSummary): Known => {
    const before = known.get(row.file);
    if (before?.bytes === row.bytes && before.updatedAt === row.updatedAt) return before;
    const inode = lstatSync(row.file, { bigint: true, throwIfNoEntry: false })?.ino;
    const { bytes, updatedAt } = row;
    const now: Known = { bytes, updatedAt, inode };
    // A file that only grew begins as it did.
    if (before !== undefined && before.inode === inode && before.bytes <= bytes) {
      if (before.door?.isBeside === false) now.door = before.door;
      if (before.exchange?.words !== undefined && before.exchange.reply !== undefined)
        now.exchange = before.exchange;
    }
    known.set(row.file, now);
    return now;
  };
  return {
    toldByDoor(row) {
      const one = of(row);
      // What the door writes comes a little later than what is said.
      one.door ??= readToldByDoor(row.file);
      return one.door;
    },
    firstExchange(row) {
      const one = of(row);
      if (!("exchange" in one)) one.exchange = readFirstExchange(row.file);
      return one.exchange;
    },
    keepOnly(rows) {
      if (known.size <= rows.length) return;
      const files = new Set(rows.map(({ file }) => file));
      for (const file of known.keys()) if (!files.has(file)) known.delete(file);
    },
  };
}

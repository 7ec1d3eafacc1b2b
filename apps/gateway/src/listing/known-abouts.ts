// Keeps what was read of sessions for lists, and reads again only of those that changed.
import { lstatSync } from "node:fs";
import type { SessionSummary } from "../sessions/list-sessions.ts";
import type { SessionStore } from "../sessions/store.ts";
import { clientNamedIn } from "./client-names.ts";
import {
  type FirstExchange,
  firstExchangeIn,
  readFirstExchange,
  readToldByDoor,
  type ToldByDoor,
  toldByDoorIn,
} from "./read-about.ts";
import { linesIn } from "./read-head.ts";

export interface KnownAbouts {
  /** Before others are asked: what is not in files is read, of many sessions at once. */
  load(rows: readonly SessionSummary[]): Promise<void>;
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
  /** It was read, and did not change since. */
  isLoaded?: boolean;
}

/** Sessions whose beginnings are asked for at once. */
const AT_ONCE = 200;
/** Lines that are all there are of what the door wrote, if there are fewer. */
const FEW = 8;

/** `beginnings`: see `SessionStore`. */
export function createKnownAbouts(beginnings?: SessionStore["beginnings"]): KnownAbouts {
  const known = new Map<string, Known>();
  const of = (row: SessionSummary): Known => {
    const before = known.get(row.file);
    if (before?.bytes === row.bytes && before.updatedAt === row.updatedAt) return before;
    const inode =
      beginnings === undefined
        ? lstatSync(row.file, { bigint: true, throwIfNoEntry: false })?.ino
        : undefined;
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
  const isComplete = (row: SessionSummary): boolean => {
    const one = of(row);
    const isSaid = one.exchange?.words !== undefined && one.exchange.reply !== undefined;
    const isOfDoor = clientNamedIn(row.key) !== undefined;
    // What the door writes comes a little later than what is said.
    if (isOfDoor && one.door === undefined) return false;
    return one.isLoaded === true || (isSaid && (!isOfDoor || one.door?.isBeside === false));
  };
  return {
    async load(rows) {
      if (beginnings === undefined) return;
      const lacking = rows.filter((row) => !isComplete(row));
      for (let at = 0; at < lacking.length; at += AT_ONCE) {
        const some = lacking.slice(at, at + AT_ONCE);
        const found = await beginnings(some);
        for (const row of some) {
          const { said, door } = found.get(row.file) ?? { said: [], door: [] };
          const one = of(row);
          one.exchange = firstExchangeIn(linesIn(said.join("\n"), true), true);
          one.door = toldByDoorIn(linesIn(door.join(""), true), door.length < FEW) ?? one.door;
          one.isLoaded = true;
        }
      }
    },
    toldByDoor(row) {
      const one = of(row);
      if (beginnings !== undefined) return one.door;
      // What the door writes comes a little later than what is said.
      one.door ??= readToldByDoor(row.file);
      return one.door;
    },
    firstExchange(row) {
      const one = of(row);
      if (beginnings === undefined && !("exchange" in one))
        one.exchange = readFirstExchange(row.file);
      return one.exchange;
    },
    keepOnly(rows) {
      if (known.size <= rows.length) return;
      const files = new Set(rows.map(({ file }) => file));
      for (const file of known.keys()) if (!files.has(file)) known.delete(file);
    },
  };
}

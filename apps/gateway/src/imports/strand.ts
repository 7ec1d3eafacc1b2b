// Gives the entries of an imported session their ids, their parents and their times.
import { createHash } from "node:crypto";
import { isRecord, withoutDeepParts } from "@clew/plugin-sdk/host";
import {
  type NewTranscriptEntry,
  placeEntry,
  type TranscriptEntry,
} from "@clew/plugin-sdk/transcript";
import { kindName } from "./tally.ts";

/** Where an entry goes, if not behind the newest one. */
export interface Place {
  /** What of the source it is: the same gives the same id, whenever it is imported. */
  key: string;
  /** As the source says it; what is no time counts as the newest one. */
  time?: unknown;
  /** Absent: behind the newest entry of the branch, which it then is. */
  parentId?: string | null;
}

export interface Strand {
  /** The newest entry of the branch; null = there is none. */
  leafId: string | null;
  /** ISO 8601. */
  readonly newestTime: string;
  add(entry: NewTranscriptEntry, place: Place): TranscriptEntry;
}

/** `source`: what tells this session from all others. */
export function createStrand(source: string, startedAt: string): Strand {
  let newestTime = startedAt;
  const taken = new Set<string>();
  return {
    leafId: null,
    get newestTime() {
      return newestTime;
    },
    add(entry, { key, time, parentId }) {
      let id = hashOf(source, key);
      for (let more = 2; taken.has(id); more++) id = hashOf(source, key, String(more));
      taken.add(id);
      const timestamp = isoTime(time) ?? newestTime;
      newestTime = timestamp;
      const placed = placeEntry(withoutDeepParts(entry), {
        ...{ id, timestamp, parentId: parentId === undefined ? this.leafId : parentId },
      });
      if (parentId === undefined) this.leafId = id;
      return placed;
    },
  };
}

/** Names what it is given, and is safe in names of files. */
export const hashOf = (...parts: readonly string[]): string =>
  createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 16);

/** What is not understood, as its program wrote it. */
export const recordOf = (format: string, kind: unknown, data: unknown): NewTranscriptEntry => ({
  ...{ type: "custom", customType: `${format}.${kindName(kind)}`, data },
});

/** Undefined: it is no time. Numbers are ms, or seconds where they are too small for that. */
export function isoTime(value: unknown): string | undefined {
  const ms =
    typeof value === "number"
      ? value < 1e11
        ? value * 1000
        : value
      : typeof value === "string"
        ? Date.parse(value)
        : Number.NaN;
  return Math.abs(ms) < LAST_MS ? new Date(ms).toISOString() : undefined;
}

/** As a message has it; absent where nobody knows. */
export function stamp(value: unknown): { timestamp?: number } {
  const iso = isoTime(value);
  return iso === undefined ? {} : { timestamp: Date.parse(iso) };
}

/** Later times have years of five digits, which no other program expects. */
const LAST_MS = Date.parse("9999-12-31T00:00:00.000Z");

/** A member of what may be anything. */
export const memberOf = (value: unknown, name: string): unknown =>
  isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined;

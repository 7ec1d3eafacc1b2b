// Lets go of the long texts of a large session file while it is read.
import { stat } from "node:fs/promises";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { type LinePlace, originOf } from "./checkpoint-lines.ts";
import { EntryLines, LateLine } from "./late-line.ts";
import { shortBytes, shortEntry } from "./late-message.ts";

export interface ShortReading {
  /** To be called with each entry as it was read, which nobody else has yet. */
  onEntry(entry: TranscriptEntry, place: LinePlace): void;
  /** Bytes of the file that were let go. */
  droppedBytes(): number;
}

/**
 * What is long in a larger context, or file, is not kept in memory: no model is sent so much, so
 * the next that is done with it is a compaction.
 */
export const MAX_HELD_BYTES = 16 * 2 ** 20;

/**
 * Undefined for a file that may be kept whole. Of another one what is let go is found again where
 * it stands.
 */
export async function readShort(file: string): Promise<ShortReading | undefined> {
  const found = await stat(file).catch(() => undefined);
  if (found === undefined || found.size <= MAX_HELD_BYTES) return undefined;
  const lines = new EntryLines(file);
  let dropped = 0;
  return {
    onEntry(entry, place) {
      const line = new LateLine({ ...place, id: entry.id, origin: originOf(entry) }, lines);
      const short = shortEntry(entry, line);
      if (entry.type !== "message" || short?.type !== "message") return;
      entry.message = short.message;
      dropped += place.length - shortBytes(place);
    },
    droppedBytes: () => dropped,
  };
}

// Finds what was said and left the branch, and what took it from there.
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { originOf } from "../sessions/origin.ts";
import { isByClient, leafBeforeUndo } from "../sessions/undo-turn.ts";
import { isMember } from "./boundaries.ts";

export interface LeftEntry {
  entry: TranscriptEntry;
  /** In words, with the time where it is known. */
  why: string;
}

/** Of an entry that nobody took back: a retry, an edit or a return to an earlier place did. */
export const WENT_ON = "the session went on from an earlier entry";

/**
 * Pure. `all`: every entry of the transcript, in the order of the file. What was stored again under
 * another id has not left.
 */
export function planLeft(
  all: readonly TranscriptEntry[],
  branch: readonly TranscriptEntry[],
): LeftEntry[] {
  const here = new Set(branch.map(({ id }) => id));
  const said = new Set(branch.map(originOf));
  const byId = new Map(all.map((entry) => [entry.id, entry]));
  const taken = new Map<string, string>();
  for (const mark of all) {
    let id = leafBeforeUndo(mark);
    const how = isByClient(mark) ? "its client went on without it" : "taken back with /undo";
    const when = mark.timestamp.slice(0, 19).replace("T", " ");
    while (id != null && !here.has(id) && !taken.has(id)) {
      taken.set(id, `${how} at ${when}`);
      id = byId.get(id)?.parentId ?? null;
    }
  }
  return all.flatMap((entry) =>
    !isMember(entry) || here.has(entry.id) || said.has(originOf(entry))
      ? []
      : [{ entry, why: taken.get(entry.id) ?? WENT_ON }],
  );
}

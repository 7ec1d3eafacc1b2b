// Remembers whose turn ended as its storage failed, so that who sends it again is answered.
import type { TurnResult } from "@clew/engine-core";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { planGoingOn } from "../waiting/plan-going-on.ts";

/** By canonical key and entry of the message; what another process knew is not known here. */
export interface UnstoredTurns {
  /** A turn is over; it is remembered where its storage failed. */
  ended(key: string, result: Pick<TurnResult, "error" | "report">): void;
  /** Another turn begins behind them in the session, of which this is the branch. */
  passed(key: string, branch: readonly TranscriptEntry[]): void;
  has(key: string, entryId: string): boolean;
  /**
   * Forgets it, as its turn is about to have another end. "last": that goes on behind what is
   * stored of it; "passed": something else was said since; undefined: it is not remembered.
   */
  take(key: string, entryId: string): Standing | undefined;
}

type Standing = "last" | "passed";

/** Of all sessions; the oldest are forgotten first. */
const MOST = 1000;

export function createUnstoredTurns(): UnstoredTurns {
  const turns = new Map<string, { key: string; entryId: string; standing: Standing }>();
  const nameOf = (key: string, entryId: string) => JSON.stringify([key, entryId]);
  return {
    ended(key, { error, report: { promptEntryId: entryId } }) {
      if (error?.code !== "STORAGE_FAILED" || entryId === null) return;
      turns.set(nameOf(key, entryId), { key, entryId, standing: "last" });
      for (const name of turns.keys()) if (turns.size > MOST) turns.delete(name);
    },
    passed(key, branch) {
      for (const [name, turn] of turns) {
        if (turn.key !== key || turn.standing === "passed") continue;
        // Its reply was stored, although nobody was told.
        if (planGoingOn(branch, turn.entryId).kind === "over") turns.delete(name);
        else turn.standing = "passed";
      }
    },
    has: (key, entryId) => turns.has(nameOf(key, entryId)),
    take(key, entryId) {
      const name = nameOf(key, entryId);
      const standing = turns.get(name)?.standing;
      turns.delete(name);
      return standing;
    },
  };
}

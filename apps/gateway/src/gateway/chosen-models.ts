// Remembers which model the branch of each session chooses.
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { sessionModelIn } from "../models/session-model.ts";

/** By canonical key. */
export interface ChosenModels {
  /** Takes note of what the session's branch chooses now. */
  note(key: string, branch: readonly TranscriptEntry[]): void;
  /** "provider/model"; undefined: none was chosen, or nobody has read the session. */
  of(key: string): string | undefined;
  forget(key: string): void;
}

export function createChosenModels(): ChosenModels {
  const chosen = new Map<string, string>();
  return {
    note(key, branch) {
      const model = sessionModelIn(branch);
      if (model === undefined) chosen.delete(key);
      else chosen.set(key, model);
    },
    of: (key) => chosen.get(key),
    forget: (key) => void chosen.delete(key),
  };
}

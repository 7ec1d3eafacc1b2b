// Reads and says how hard a session's models shall think.
import type { NewTranscriptEntry, TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { type ThinkingLevel, ThinkingLevelSchema } from "../config/params.ts";

/** What says that the settings decide again. */
const BY_SETTINGS = "inherit";

/** The newest word of the branch; undefined: the settings decide. */
export function thinkingLevelIn(branch: readonly TranscriptEntry[]): ThinkingLevel | undefined {
  const said = branch.findLast((entry) => entry.type === "thinking_level_change");
  if (said?.type !== "thinking_level_change") return undefined;
  return ThinkingLevelSchema.safeParse(said.thinkingLevel).data;
}

/** The entry that says so from here on; null: the settings decide again. */
export const thinkingLevelEntry = (level: ThinkingLevel | null): NewTranscriptEntry => ({
  type: "thinking_level_change",
  thinkingLevel: level ?? BY_SETTINGS,
});

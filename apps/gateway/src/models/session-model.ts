// Reads and says which model a person chose for one session.
import type { NewTranscriptEntry, TranscriptEntry } from "@clew/plugin-sdk/transcript";

/** An entry of the transcript that decides; those of other hosts only tell. */
const CHOICE = "clew:model";

/** "provider/model", by the newest word of the branch; undefined: the settings decide. */
export function sessionModelIn(branch: readonly TranscriptEntry[]): string | undefined {
  const said = branch.findLast((entry) => entry.type === "custom" && entry.customType === CHOICE);
  const { model } = (said?.type === "custom" ? said.data : {}) as { model?: unknown };
  return typeof model === "string" ? model : undefined;
}

/** What says so from here on, to people too; null: the settings decide again. */
export function sessionModelEntries(model: string | null, answering: string): NewTranscriptEntry[] {
  const [provider = "", ...id] = answering.split("/");
  return [
    { type: "custom", customType: CHOICE, data: { model } },
    { type: "model_change", provider, modelId: id.join("/") },
  ];
}

// Decides which entries of a running turn a model call of a program was made on.
import { roleIn, type TranscriptEntry } from "@clew/plugin-sdk/transcript";

/** How much of the branch a call was made on. */
export interface SeenEntries {
  /** Leading entries of the branch that its model was to see. */
  end: number;
  /** Leading entries that were stored when it was told. */
  at: number;
  /** What it asked tools for is stored. */
  isDone: boolean;
}

/** Before the first call of a turn, as no call before it wanted tools; `at`: entries there are. */
export const nothingSeen = (at: number): SeenEntries => ({ end: at, at, isDone: true });

/**
 * Pure. A program tells of a call when its answer is there: texts are stored before that, the
 * results of its tools before or after. As a call follows another one because that one wanted
 * tools, those that come first are the earlier call's where nothing else of it is stored.
 */
export function planSeen(branch: readonly TranscriptEntry[], before: SeenEntries): SeenEntries {
  const at = Math.min(before.at, branch.length);
  let end = at;
  if (!before.isDone) while (end < branch.length && !isText(branch[end]!)) end++;
  const isDone = branch.slice(end).some((entry) => roleIn(entry) === "toolResult");
  return { end, at: branch.length, isDone };
}

const isText = (entry: TranscriptEntry): boolean =>
  entry.type === "message" &&
  entry.message.role === "assistant" &&
  !entry.message.content.some(({ type }) => type === "toolCall");

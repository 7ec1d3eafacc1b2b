// Decides which part of a session's branch a fork begins with.
import { blocksOf, type TranscriptEntry } from "@clew/plugin-sdk/transcript";

/**
 * All of it, but for the newest calls while some of them have no result: the call that starts the
 * fork is one of those.
 */
export function planFork(branch: readonly TranscriptEntry[]): readonly TranscriptEntry[] {
  const at = branch.findLastIndex((entry) => callsOf(entry).length > 0);
  if (at < 0) return branch;
  const answered = new Set(branch.slice(at).flatMap(answeredBy));
  return callsOf(branch[at]!).every((id) => answered.has(id)) ? branch : branch.slice(0, at);
}

function callsOf(entry: TranscriptEntry): string[] {
  if (entry.type !== "message" || entry.message.role !== "assistant") return [];
  return blocksOf(entry.message.content).flatMap(({ type, id }) =>
    type === "toolCall" ? [String(id)] : [],
  );
}

const answeredBy = (entry: TranscriptEntry): string[] =>
  entry.type === "message" && entry.message.role === "toolResult" ? [entry.message.toolCallId] : [];

// Which tool calls of a branch nobody answered.
import { blocksOf, type TranscriptEntry } from "@clew/plugin-sdk/transcript";

export interface CallsWithoutResult {
  /** Of the calls, in their order. */
  callIds: readonly string[];
  /** False: nothing was said afterwards, so that a result may still come. */
  isOver: boolean;
}

/** Pure. By the id of the entry that makes them. */
export function callsWithoutResult(
  branch: readonly TranscriptEntry[],
): ReadonlyMap<string, CallsWithoutResult> {
  const found = new Map<string, CallsWithoutResult>();
  for (const [at, entry] of branch.entries()) {
    if (entry.type !== "message" || entry.message.role !== "assistant") continue;
    const called = blocksOf(entry.message.content).flatMap((block) =>
      block.type === "toolCall" ? [String(block.id)] : [],
    );
    if (called.length === 0) continue;
    const { answered, isOver } = resultsBehind(branch, at);
    const callIds = called.filter((id) => !answered.has(id));
    if (callIds.length > 0) found.set(entry.id, { callIds, isOver });
  }
  return found;
}

/** Up to what is said next: models that count their calls anew repeat ids. */
function resultsBehind(
  branch: readonly TranscriptEntry[],
  at: number,
): { answered: ReadonlySet<string>; isOver: boolean } {
  const answered = new Set<string>();
  for (let next = at + 1; next < branch.length; next++) {
    const entry = branch[next]!;
    if (entry.type !== "message") continue;
    const { message } = entry;
    if (message.role === "toolResult") answered.add(message.toolCallId);
    else if (message.role === "user" || message.role === "assistant")
      return { answered, isOver: true };
  }
  return { answered, isOver: false };
}

// Decides what a fork begins with.
import {
  blocksOf,
  type NewTranscriptEntry,
  type TranscriptEntry,
} from "@clew/plugin-sdk/transcript";

/** What a fork's file holds at first. */
export interface Fork {
  /** Of its parent's branch, with their ids. */
  entries: readonly TranscriptEntry[];
  /** Follow them, so that every call has a result: the call that starts the fork has none yet. */
  results: readonly NewTranscriptEntry[];
}

const STARTED = "This session is the fork that this call started; what it is to do follows.";
const OTHER = "This session is a fork, in which this call was not answered.";

/** The whole branch; `tool` is the one whose call starts the fork. */
export function planFork(branch: readonly TranscriptEntry[], tool: string): Fork {
  const at = branch.findLastIndex((entry) => callsOf(entry).length > 0);
  const answered = new Set(branch.slice(Math.max(0, at)).flatMap(answeredBy));
  const open = at < 0 ? [] : callsOf(branch[at]!).filter(({ id }) => !answered.has(id));
  const results = open.map(({ id, name }): NewTranscriptEntry => {
    const text = name === tool ? STARTED : OTHER;
    const about = { role: "toolResult", toolCallId: id, toolName: name, isError: false } as const;
    return { type: "message", message: { ...about, content: [{ type: "text", text }] } };
  });
  return { entries: branch, results };
}

function callsOf(entry: TranscriptEntry): { id: string; name: string }[] {
  if (entry.type !== "message" || entry.message.role !== "assistant") return [];
  return blocksOf(entry.message.content).flatMap(({ type, id, name }) =>
    type === "toolCall" ? [{ id: String(id), name: String(name) }] : [],
  );
}

const answeredBy = (entry: TranscriptEntry): string[] =>
  entry.type === "message" && entry.message.role === "toolResult" ? [entry.message.toolCallId] : [];

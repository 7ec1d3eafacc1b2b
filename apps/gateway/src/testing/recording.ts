// Recorded transcripts for tests of replay.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { type NewTranscriptEntry, TRANSCRIPT_VERSION } from "@clew/plugin-sdk/transcript";

const START = Date.parse("2026-01-01T00:00:00.000Z");

/** Writes a session file of these messages (or other entries) and returns its path. */
export async function writeRecording(
  folder: string,
  items: readonly (AgentMessage | NewTranscriptEntry)[],
  name = "recorded",
): Promise<string> {
  const header = {
    type: "session",
    version: TRANSCRIPT_VERSION,
    id: name,
    timestamp: new Date(START).toISOString(),
    cwd: "/somewhere",
  };
  const lines = items.map((item, index) => {
    const time = START + index * 1000;
    const entry: NewTranscriptEntry =
      "type" in item ? item : { type: "message", message: { ...item, timestamp: time } };
    return {
      ...entry,
      id: idOf(index),
      parentId: index === 0 ? null : idOf(index - 1),
      timestamp: new Date(time).toISOString(),
    };
  });
  const file = join(folder, `${name}.jsonl`);
  await writeFile(file, [header, ...lines].map((line) => `${JSON.stringify(line)}\n`).join(""));
  return file;
}

const idOf = (index: number) => (index + 1).toString(16).padStart(8, "0");

export const user = (content: string): AgentMessage => ({ role: "user", content });

export const reply = (text: string): AgentMessage => ({
  role: "assistant",
  content: [{ type: "text", text }],
  stopReason: "stop",
});

export const calls = (...ids: string[]): AgentMessage => ({
  role: "assistant",
  content: ids.map((id) => ({ type: "toolCall", id, name: "look", arguments: { id } })),
  stopReason: "toolUse",
});

export const result = (id: string, text: string): AgentMessage => ({
  role: "toolResult",
  toolCallId: id,
  toolName: "look",
  content: [{ type: "text", text }],
  isError: false,
});

export const failed = (stopReason: "error" | "aborted", text = ""): AgentMessage => ({
  role: "assistant",
  content: text === "" ? [] : [{ type: "text", text }],
  stopReason,
  errorMessage: `recorded ${stopReason}`,
});

// Names a chunk of a conversation by its place and time.
import type { AgentMessage } from "@clew/plugin-sdk/core";

/** `index` of `parts`, oldest first. */
export function chunkLabel(
  messages: readonly AgentMessage[],
  index: number,
  parts: number,
): string {
  const age =
    index === 0 ? " — oldest messages" : index === parts - 1 ? " — most recent messages" : "";
  const position = index === 0 ? "1" : `${index + 1}/${parts}`;
  const times = messages
    .flatMap(({ timestamp }) =>
      timestamp === undefined || !Number.isFinite(timestamp) ? [] : [timestamp],
    )
    .sort((a, b) => a - b);
  const range = times.length === 0 ? "" : ` [${utc(times[0]!)} – ${utc(times.at(-1)!)} UTC]`;
  return `[Chunk ${position}${age}${range}]`;
}

function utc(ms: number): string {
  // Stored times may be anything; those no calendar knows are told as they are.
  return Math.abs(ms) <= 8.64e15
    ? new Date(ms).toISOString().slice(0, 16).replace("T", " ")
    : String(ms);
}

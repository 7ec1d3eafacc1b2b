// Reads recorded sessions from a folder that the person names.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { activeBranch, parseTranscript, type TranscriptEntry } from "@clew/plugin-sdk/transcript";

export interface Recording {
  name: string;
  /** Where the recorded client worked. */
  cwd: string;
  branch: readonly TranscriptEntry[];
  messages: readonly AgentMessage[];
}

/** Every session of the folder; none without one. */
export function readRecordings(folder: string | undefined): Recording[] {
  if (folder === undefined) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith(".jsonl"))
    .sort()
    .map((name) => {
      const { header, entries } = parseTranscript(readFileSync(join(folder, name), "utf8"));
      const branch = activeBranch(entries);
      return {
        name,
        cwd: header?.cwd ?? "/",
        branch,
        messages: branch.flatMap((entry) => (entry.type === "message" ? [entry.message] : [])),
      };
    });
}

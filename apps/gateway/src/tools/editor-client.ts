// What an editor does for the tools of a session that it holds.
import type { ToolsConfig } from "../config/tools.ts";
import type { CommandRun } from "./run-command.ts";

/** Whether tools write and run commands: not at all, after a person allowed it, or unasked. */
export type ToolRules = Pick<ToolsConfig, "write" | "shell">;

/** Paths are absolute, by the name that the editor has for its folder. */
export interface EditorClient {
  /** A text as the editor has it, saved or not. Absent: files are read from the disk. */
  readText?(path: string, signal: AbortSignal): Promise<string>;
  /** Absent: files are written to the disk. */
  writeText?(path: string, text: string, signal: AbortSignal): Promise<void>;
  /** Runs a command where a person sees it. Absent: the gateway runs it. */
  run?(command: EditorCommand): Promise<CommandRun>;
}

export interface EditorCommand {
  /** For /bin/sh. */
  line: string;
  cwd: string;
  timeoutMs: number;
  signal: AbortSignal;
  /** Of the model's call. */
  callId: string;
}

/** What of a session is the editor's, which holds it or did. */
export interface EditorPlace {
  /** Absolute; in place of its agent's workspace. */
  workspace: string;
  rules: ToolRules;
  /** Registered id of the engine that was chosen for it; null = as the settings say. */
  engine: string | null;
  /** Null: no editor holds it now. */
  client: EditorClient | null;
}

/** Pure. Whether nothing is to be changed or run there, whoever asks. */
export const onlyReads = (place: EditorPlace | undefined): boolean =>
  place?.rules.write === "off" && place.rules.shell === "off";

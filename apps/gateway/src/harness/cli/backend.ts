// What a program that is started once per turn has to say of itself.
import type { ImageBlock, Usage } from "@clew/plugin-sdk/core";
import type { ModelError } from "@clew/plugin-sdk/host";
import type { CliBackendConfig } from "../../config/harness.ts";

/** Where its requests go. */
export interface CliProvider {
  name: string;
  baseUrl: string;
  key: string;
}

/** What one process is started for. */
export interface CliTurn {
  prompt: string;
  /** Of the person's message, in its order. */
  images: readonly ImageBlock[];
  /** Of the model. */
  model: string;
  provider: CliProvider;
  instructions: string;
  /** The program's own folder, absolute; nobody else writes there. */
  folder: string;
  /** Absolute; it is there. */
  cwd: string;
  /** Of the session that goes on; null = a new one. */
  ref: string | null;
  config: CliBackendConfig;
  /** How hard the model shall think; undefined = as the program has it, "off" = not at all. */
  effort: string | undefined;
  /** Whether somebody answers when it asks. */
  canAsk: boolean;
}

/** One thing that a line says. */
export type CliEvent =
  /** The session by which it can be resumed. */
  | { type: "started"; ref: string }
  | { type: "delta"; kind: "text" | "thinking"; delta: string }
  /** A whole text; the same `id` again is the same text. */
  | { type: "text"; id: string; text: string }
  | { type: "call"; id: string; name: string; args: Record<string, unknown> }
  | { type: "result"; id: string; text: string; isError: boolean }
  /** One model call, as far as it was told; the same `id` again takes its place. */
  | { type: "call-usage"; id: string; usage: Usage }
  /** It made its own session smaller. */
  | { type: "compaction"; text: string }
  | { type: "notice"; text: string }
  /** It waits for a permission. */
  /** `callId`: of the call that it asks about. Absent: it does not say. */
  | { type: "ask"; id: string; name: string; args: Record<string, unknown>; callId?: string }
  | CliEnd;

/** How the turn ended by the program's own flags. */
export interface CliEnd {
  type: "end";
  /** Null: it was completed. */
  error: ModelError | null;
  /** Null: it does not say. */
  usage: Usage | null;
  /** What stands in place of a reply that was not told as a text. Absent: nothing does. */
  reply?: string | undefined;
}

/** One kind of program; everything here is pure. */
export interface CliBackend {
  id: "codex-cli" | "claude-cli";
  /** For people. */
  name: string;
  /** Found on PATH where the settings name none. */
  command: string;
  /** How one gets it, as a command. */
  install: string;
  /** The wire by which it asks its models. */
  api: string;
  /** Where at a provider the paths begin that it asks for. */
  baseOf(baseUrl: string): string;
  oldest: string;
  /** Whether `usage` of its end is that of all turns of the session. */
  usage: "turn" | "session";
  /** Written into its folder before each start. */
  files(turn: CliTurn): Readonly<Record<string, string | Uint8Array>>;
  env(turn: CliTurn): Record<string, string>;
  args(turn: CliTurn): string[];
  /** Those that let a session go on. */
  resumeArgs(ref: string): string[];
  stdin(turn: CliTurn): string;
  /** Whether it reads on after the prompt, until its end was told. */
  listens(turn: CliTurn): boolean;
  /** `value` is a line's JSON; what nobody knows says nothing. */
  parse(value: Record<string, unknown>): CliEvent[];
  /** What is written to it after it asked. */
  answer(ask: Extract<CliEvent, { type: "ask" }>, allowed: boolean): string;
}

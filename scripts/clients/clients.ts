// Which real clients are tried at the door, and how each is asked, and asks.
import type { DoorApi } from "../../apps/gateway/src/door/wires/door-wire.ts";

export const FAULTS = ["429", "500", "broken", "no-end"] as const;
/** What a model server does once in a while; "no-end": the last event is missing. */
export type Fault = (typeof FAULTS)[number];

export interface Client {
  /** As `clew connect` calls it, which writes its settings. */
  name: string;
  npm: string;
  /** Pinned: its next version may do otherwise. */
  version: string;
  bin: string;
  /** True: it is not whole before its own install script ran. */
  needsScript?: boolean;
  /** The wire it speaks to the door. */
  api: DoorApi;
  args(prompt: string): readonly string[];
  /** Beside what `clew connect` writes, as its notes or the client's own manual say. */
  env?: Readonly<Record<string, string>>;
  /** How its model reads a file. */
  read(path: string): ModelCall;
  /** How its model starts subagents, if it is tried with them. */
  subagents?: Subagents;
  /** Of fifty requests, so many begin with all of the one before. Absent: the usual number. */
  leastKept?: number;
  /** Faults that end it without a door, too. Absent: it outlives all of them. */
  failsAt?: readonly Fault[];
  /** What tells it a window of its own where nothing that `clew connect` writes does. */
  ownWindow?: Readonly<Record<string, string>>;
}

export interface ModelCall {
  name: string;
  args: Record<string, unknown>;
  /** Of a tool that is one of a group. */
  namespace?: string;
}

export interface Subagents {
  /** A call for each prompt, all in one reply. */
  start(prompts: readonly string[]): readonly ModelCall[];
  /** What is called until all are done, by the names they were given. Absent: nothing. */
  wait?(names: readonly string[]): ModelCall;
}

export const CLIENTS: readonly Client[] = [
  {
    ...{ name: "claude-code", npm: "@anthropic-ai/claude-code", version: "2.1.332" },
    ...{ bin: "claude", needsScript: true, api: "anthropic-messages" },
    args: (prompt) => [
      ...["-p", prompt, "--allowedTools", "Read,Bash,Agent"],
      ...["--output-format", "stream-json", "--verbose"],
    ],
    read: (path) => ({ name: "Read", args: { file_path: path } }),
    subagents: {
      start: (prompts) =>
        prompts.map((prompt, at) => ({
          name: "Agent",
          args: { description: `Read part ${at + 1}`, prompt, run_in_background: false },
        })),
    },
    ownWindow: { CLAUDE_CODE_AUTO_COMPACT_WINDOW: "32000" },
  },
  {
    ...{ name: "codex", npm: "@openai/codex", version: "0.171.0" },
    ...{ bin: "codex", api: "openai-responses" },
    args: (prompt) => [
      ...["exec", "--json", "--skip-git-repo-check", "-s", "danger-full-access", prompt],
    ],
    read: (path) => ({ name: "exec_command", args: { cmd: `cat ${path}` } }),
    subagents: {
      start: (prompts) =>
        prompts.map((message) => ({
          ...{ name: "spawn_agent", namespace: "multi_agent_v1", args: { message } },
        })),
      wait: (targets) => ({
        ...{ name: "wait_agent", namespace: "multi_agent_v1", args: { targets } },
      }),
    },
  },
  {
    ...{ name: "opencode", npm: "opencode-ai", version: "1.18.33" },
    ...{ bin: "opencode", needsScript: true, api: "openai-completions" },
    args: (prompt) => ["run", prompt],
    read: (path) => ({ name: "read", args: { filePath: path } }),
  },
  {
    ...{ name: "pi", npm: "@mariozechner/pi-coding-agent", version: "0.73.1" },
    ...{ bin: "pi", api: "openai-completions" },
    args: (prompt) => ["-p", prompt],
    read: (path) => ({ name: "read", args: { path } }),
  },
  {
    ...{ name: "qwen", npm: "@qwen-code/qwen-code", version: "0.24.4" },
    ...{ bin: "qwen", api: "openai-completions" },
    args: (prompt) => ["-y", "-p", prompt],
    read: (path) => ({ name: "read_file", args: { file_path: path } }),
  },
  {
    ...{ name: "gemini", npm: "@google/gemini-cli", version: "0.61.0" },
    ...{ bin: "gemini", api: "google-generative-ai" },
    args: (prompt) => ["-y", "-p", prompt],
    env: { GEMINI_CLI_TRUST_WORKSPACE: "true" },
    failsAt: ["broken"],
    read: (path) => ({ name: "read_file", args: { file_path: path } }),
  },
  {
    ...{ name: "copilot", npm: "@github/copilot", version: "1.0.102" },
    ...{ bin: "copilot", api: "openai-completions" },
    args: (prompt) => ["-p", prompt, "--allow-all-tools"],
    read: (path) => ({ name: "view", args: { path } }),
  },
  {
    ...{ name: "cline", npm: "cline", version: "3.0.65" },
    ...{ bin: "cline", api: "openai-completions" },
    args: (prompt) => ["--json", prompt],
    read: (path) => ({ name: "read_files", args: { files: [{ path }] } }),
  },
  {
    ...{ name: "kimi", npm: "@moonshot-ai/kimi-code", version: "2.1.0" },
    ...{ bin: "kimi", api: "openai-completions" },
    args: (prompt) => ["-p", prompt],
    read: (path) => ({ name: "Read", args: { path } }),
    // Its tools take 21,000 tokens of 32,000: seven calls fit between two moves of a view.
    leastKept: 44,
  },
];

// Which real clients are tried at the door, and how each is asked.

export interface Client {
  /** As `clew connect` calls it, which writes its settings. */
  name: string;
  /** Pinned: its next version may do otherwise. */
  npm: string;
  bin: string;
  args(prompt: string): readonly string[];
}

export const CLIENTS: readonly Client[] = [
  {
    name: "pi",
    npm: "@mariozechner/pi-coding-agent@0.73.1",
    bin: "pi",
    args: (prompt) => ["-p", prompt],
  },
  {
    name: "kimi",
    npm: "@moonshot-ai/kimi-code@2.1.0",
    bin: "kimi",
    args: (prompt) => ["-p", prompt],
  },
  {
    name: "qwen",
    npm: "@qwen-code/qwen-code@0.24.4",
    bin: "qwen",
    args: (prompt) => ["-y", "-p", prompt],
  },
];

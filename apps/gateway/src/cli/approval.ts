// Asks the person at the terminal, if there is one, whether a tool may run.
import { createInterface, type Interface } from "node:readline";
import { type Output, printable } from "../terminal/output.ts";
import type { Approve } from "../tools/tool.ts";

export interface Asking {
  /** Undefined without a terminal: then the answer is no. */
  approve: Approve | undefined;
  /**
   * The line reader of a conversation: two readers of one terminal would steal each other's keys.
   */
  use(lines: Interface): void;
}

export function askInTerminal(
  output: Output,
  isTerminal = process.stdin.isTTY === true && process.stderr.isTTY === true,
): Asking {
  let shared: Interface | undefined;
  const approve: Approve = async ({ call, signal }) => {
    output.note(`\n${printable(call.name)} ${printable(JSON.stringify(call.arguments, null, 2))}`);
    const lines = shared ?? createInterface({ input: process.stdin, output: process.stderr });
    try {
      return await question(lines, "Allow it to run? [y/N] ", signal);
    } finally {
      if (lines !== shared) lines.close();
    }
  };
  return {
    approve: isTerminal ? approve : undefined,
    use: (lines) => {
      shared = lines;
    },
  };
}

/** Anything but a yes is a no, an abort and the end of the input too. */
export function question(lines: Interface, text: string, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const no = () => resolve(false);
    signal.addEventListener("abort", no, { once: true });
    lines.once("close", no);
    lines.question(text, { signal }, (answer) => {
      signal.removeEventListener("abort", no);
      lines.off("close", no);
      resolve(/^\s*y(es)?\s*$/i.test(answer));
    });
  });
}

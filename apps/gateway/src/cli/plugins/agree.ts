// Asks in the terminal whether a plugin may be installed.
import { createInterface } from "node:readline/promises";
import { requestInvalid } from "../../plugins/invalid.ts";
import { type Output, printable } from "../../terminal/output.ts";
import { progressLine } from "../../terminal/progress-line.ts";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Throws REQUEST_INVALID, after the plugin was shown, where nobody can be asked. */
export function askWith(output: Output): (plugin: readonly string[]) => Promise<boolean> {
  return async (plugin) => {
    for (const line of plugin) output.note(printable(line));
    if (!process.stdin.isTTY)
      throw requestInvalid(
        "Nobody is there to agree to this plugin; nothing of it was run. To install it all the same, add --yes.",
      );
    const goOn = progressLine()?.pauses();
    const lines = createInterface({ input: process.stdin, output: process.stderr });
    // Whoever leaves the question by a key or a signal said no: what was fetched is cleared away.
    const left = new AbortController();
    const leave = () => left.abort();
    lines.once("SIGINT", leave).once("close", leave);
    for (const signal of SIGNALS) process.once(signal, leave);
    try {
      const answer = await lines.question("Install it? [y/N] ", { signal: left.signal });
      return /^y(?:es)?$/i.test(answer.trim());
    } catch (error) {
      if (!left.signal.aborted) throw error;
      process.stderr.write("\n");
      return false;
    } finally {
      for (const signal of SIGNALS) process.off(signal, leave);
      lines.close();
      goOn?.();
    }
  };
}

// Asks in the terminal whether a plugin may be installed.
import { createInterface } from "node:readline/promises";
import { requestInvalid } from "../../plugins/invalid.ts";
import { type Output, printable } from "../../terminal/output.ts";

/** Throws REQUEST_INVALID, after the plugin was shown, where nobody can be asked. */
export function askWith(output: Output): (plugin: readonly string[]) => Promise<boolean> {
  return async (plugin) => {
    for (const line of plugin) output.note(printable(line));
    if (!process.stdin.isTTY)
      throw requestInvalid(
        "Nobody is there to agree to this plugin; nothing of it was run. To install it all the same, add --yes.",
      );
    const lines = createInterface({ input: process.stdin, output: process.stderr });
    try {
      return /^y(?:es)?$/i.test((await lines.question("Install it? [y/N] ")).trim());
    } finally {
      lines.close();
    }
  };
}

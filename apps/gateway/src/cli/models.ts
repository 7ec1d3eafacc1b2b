// Runs `clew models`, which lists and forgets learned windows.
import { createModelWindows } from "../models/model-windows.ts";
import { EXIT } from "../terminal/exit-codes.ts";
import { printable } from "../terminal/output.ts";
import type { Shell } from "../terminal/shell.ts";
import { formatTable } from "../terminal/table.ts";
import { number } from "../text/number.ts";

const silent = { info: () => {}, warn: () => {}, error: () => {} };

export function modelWindows(
  { json = false }: { json?: boolean },
  { environment, output }: Shell,
): number {
  const models = createModelWindows({ home: environment.home, log: silent }).all();
  const rows = Object.entries(models).map(([name, { tokens, at }]) => [
    printable(name),
    number(tokens),
    at.slice(0, 10),
  ]);
  if (json) output.json({ models });
  else if (rows.length === 0) output.line("No provider has named a window smaller than was known.");
  else output.line(formatTable(["model", "tokens", "said on"], rows));
  return EXIT.done;
}

/** Exit code 1 when there was nothing to forget. A running gateway knows at its next turn. */
export async function forgetWindow(
  name: string,
  { json = false }: { json?: boolean },
  { environment, output }: Shell,
): Promise<number> {
  const forgotten = await createModelWindows({ home: environment.home, log: silent }).forget(name);
  if (json) output.json({ model: name, forgotten });
  else
    output.line(
      printable(
        forgotten
          ? `Forgotten what the provider of ${name} said; the settings decide again.`
          : `Nothing is known of ${name} that its provider said; "clew models windows" lists what is.`,
      ),
    );
  return forgotten ? EXIT.done : EXIT.failed;
}

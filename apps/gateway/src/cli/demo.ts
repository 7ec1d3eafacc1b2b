// Runs `clew demo make` and `clew demo remove`.
import { DEMO_KEY, demoState, removeDemo } from "../demo/demo-place.ts";
import { makeDemo } from "../demo/make-demo.ts";
import type { Shell } from "../terminal/shell.ts";
import { counted } from "../text/number.ts";
import { ownCommand } from "./own-command.ts";

export async function demoMake(
  { json = false }: { json?: boolean },
  { environment, output }: Shell,
): Promise<number> {
  const command = ownCommand(import.meta.dirname, environment);
  const state = await demoState(environment.home);
  if (state === "made" || state === "other") {
    const why =
      state === "made"
        ? `There is a demo session already; "${command} demo remove" removes it.`
        : `The home has an agent "demo" of its own, in whose place no demo is made.`;
    if (json) output.json({ made: false, reason: why });
    else output.note(`clew: ${why}`);
    return 1;
  }
  const signal = new AbortController().signal;
  const { turns, calls, compactions, refused } = await makeDemo({
    environment,
    signal,
    endsAt: Date.now(),
  });
  if (json)
    output.json({
      made: true,
      key: DEMO_KEY,
      turns,
      calls: calls.length + refused,
      refused,
      compactions,
    });
  else
    output.line(
      `The demo session is ${DEMO_KEY}: ${counted(turns, "turn")}, ${counted(calls.length + refused, "model call")}, of which ${refused === 1 ? "1 was" : `${refused} were`} refused, ${counted(compactions, "compaction")}; no model was called. "${command} demo remove" removes it.`,
    );
  return 0;
}

export async function demoRemove(
  { json = false }: { json?: boolean },
  { environment, output }: Shell,
): Promise<number> {
  const removed = await removeDemo(environment.home);
  const command = ownCommand(import.meta.dirname, environment);
  if (json) output.json({ removed });
  else
    output.line(
      removed
        ? `The demo session is removed, with all that was stored for it, and is not made again unless you say "${command} demo make".`
        : "There is no demo session; none will be made by itself.",
    );
  return 0;
}

// Shows on standard error how far a replay is.
import type { Output } from "../terminal/output.ts";
import { progressLine } from "../terminal/progress-line.ts";
import { counted } from "../text/number.ts";

/** In the progress line of a terminal, or a line now and then where there is none. */
export function showProgress(output: Output, name: string) {
  const line = progressLine();
  let shown = 0;
  return {
    show({ turn, turns, calls }: { turn: number; turns: number; calls: number }) {
      const text = `${name}: turn ${turn} of ${turns}, ${counted(calls, "model call")}`;
      if (line !== undefined) return line.says(text);
      const now = performance.now();
      if (now - shown < 2000 && turn !== turns) return;
      shown = now;
      output.note(text);
    },
  };
}

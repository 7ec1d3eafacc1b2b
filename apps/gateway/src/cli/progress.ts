// Shows on standard error how far a replay is.
import type { Output } from "../terminal/output.ts";

/** A line that is written again and again in a terminal, a line now and then elsewhere. */
export function showProgress(output: Output, name: string) {
  const isTerminal = process.stderr.isTTY === true;
  let shown = 0;
  return {
    show({ turn, turns, calls }: { turn: number; turns: number; calls: number }) {
      const now = performance.now();
      const isDue = now - shown >= (isTerminal ? 100 : 2000) || turn === turns;
      if (!isDue) return;
      shown = now;
      const text = `${name}: turn ${turn} of ${turns}, ${calls} model calls`;
      if (isTerminal) process.stderr.write(`\r${text}\u001b[K`);
      else output.note(text);
    },
    end() {
      if (isTerminal) process.stderr.write("\n");
    },
  };
}

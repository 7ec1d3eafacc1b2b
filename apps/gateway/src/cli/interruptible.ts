// Says on the error output how far a command is, and lets Ctrl-C end it.
import type { Output } from "../terminal/output.ts";
import { progressLine } from "../terminal/progress-line.ts";

/** What is given to interruptible work. */
export interface Interruptible {
  /** Aborted by Ctrl-C and by a signal to end. */
  readonly signal: AbortSignal;
  /** What is said when the work takes long; cheap enough for each step. */
  says(text: string): void;
}

/** Nothing is said of work that ends within this time, ms. */
const QUIET_MS = 300;
/** Between two lines where nobody sees one replaced by the next, ms. */
const LINES_MS = 2_000;

/** Ctrl-C makes `work` throw an abort, which ends a command with 130. */
export async function interruptible<Answer>(
  { note }: Pick<Output, "note">,
  work: (options: Interruptible) => Promise<Answer>,
): Promise<Answer> {
  const cancelled = new AbortController();
  const onSignal = () => cancelled.abort();
  process.once("SIGINT", onSignal).once("SIGTERM", onSignal);
  const line = progressLine();
  let due = performance.now() + QUIET_MS;
  const says = (text: string) => {
    if (line !== undefined) return line.says(text);
    const now = performance.now();
    if (now < due) return;
    due = now + LINES_MS;
    note(text);
  };
  try {
    return await work({ signal: cancelled.signal, says });
  } finally {
    process.off("SIGINT", onSignal).off("SIGTERM", onSignal);
  }
}

// Says on the error output how far work on a database is, and ends it by a signal.
import type { OperatingProgress } from "@clew/lossless-engine/store";
import type { Output } from "../../terminal/output.ts";

/** What `working` gives to work. */
export interface Work {
  readonly signal: AbortSignal;
  onProgress(progress: OperatingProgress): void;
}

/** Between two lines that say how far it is, ms. */
const PROGRESS_MS = 2_000;

/** Ctrl-C ends `work`, which throws an abort then. */
export async function working<Answer>(
  output: Output,
  work: (options: Work) => Promise<Answer>,
): Promise<Answer> {
  const cancelled = new AbortController();
  const onSignal = () => cancelled.abort();
  process.once("SIGINT", onSignal).once("SIGTERM", onSignal);
  let toldAt = performance.now();
  try {
    return await work({
      signal: cancelled.signal,
      onProgress({ part, done, of }) {
        if (performance.now() - toldAt < PROGRESS_MS) return;
        toldAt = performance.now();
        output.note(`${part}: ${done}${of === null ? "" : ` of ${of}`}`);
      },
    });
  } finally {
    process.off("SIGINT", onSignal).off("SIGTERM", onSignal);
  }
}

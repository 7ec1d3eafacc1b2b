// Ends a run that takes too long, and says that the time was up.
import type { TurnResult } from "@clew/engine-core";
import { linkSignals } from "@clew/plugin-sdk/host";
import { tookTooLong } from "../stopping.ts";

/** The timer is gone when the run is: five hundred quick turns leave nothing behind. */
export async function withTimeout(
  { seconds, signal }: { seconds: number; signal: AbortSignal | undefined },
  run: (signal: AbortSignal) => Promise<TurnResult>,
): Promise<TurnResult> {
  const bounded = linkSignals(signal);
  let expired = false;
  const timer = setTimeout(() => {
    expired = true;
    bounded.abort(new DOMException("The run took too long.", "AbortError"));
  }, seconds * 1000);
  try {
    const result = await run(bounded.signal);
    if (!expired || result.outcome === "completed") return result;
    const message = `The run was stopped after ${seconds} s (agents.defaults.timeoutSeconds); what had arrived is kept.`;
    return tookTooLong(result, message);
  } finally {
    clearTimeout(timer);
    bounded.release();
  }
}

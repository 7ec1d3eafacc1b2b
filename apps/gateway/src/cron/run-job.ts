// Runs one job's turn in its session.
import type { TurnResult } from "@clew/engine-core";
import { isAbort } from "@clew/plugin-sdk/core";
import type { SendRequest } from "../waiting/send-request.ts";
import { answerHead } from "./answer-head.ts";
import type { Job } from "./job.ts";
import type { JobOutcome } from "./scheduler.ts";

/** Never rejects. */
export async function runJob(
  { send }: { send: (request: SendRequest) => Promise<TurnResult> },
  { session, message, kind }: Job,
  signal: AbortSignal,
): Promise<JobOutcome> {
  try {
    const { outcome, reply, error } = await send({ key: session, content: message, signal, kind });
    return { outcome, ...(error !== null && { reason: error.message }), ...answerHead(reply) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { outcome: isAbort(error) || signal.aborted ? "aborted" : "failed", reason };
  }
}

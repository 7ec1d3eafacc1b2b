// Runs one job's turn at whichever gateway has its session, and waits for what comes of it.
import { setTimeout as after } from "node:timers/promises";
import type { AssistantMessage } from "@clew/plugin-sdk/core";
import { answerHead } from "../cron/answer-head.ts";
import type { Job } from "../cron/job.ts";
import type { JobOutcome } from "../cron/scheduler.ts";
import type { StorageCluster } from "../storage/storage.ts";
import { runName } from "../waiting/run-name.ts";
import type { KeptElsewhere, SaidBefore, Sending } from "./sending.ts";

export interface KeptJobPorts {
  keep: Sending["keep"];
  saidIn(key: KeptElsewhere["key"], name: string): Promise<SaidBefore | null>;
  look: StorageCluster["look"];
  isStopping(): boolean;
}

/** While a turn goes on, its transcript is read so often, ms. */
const READ_MS = 5_000;
/** Where the database does not answer. */
const AGAIN_MS = 500;

/**
 * It waits in its session like a person's message, so that no end of a gateway loses it. Rejects
 * where this gateway leaves it to another one, which hears the same of it.
 */
export async function runKeptJob(
  ports: KeptJobPorts,
  { id, session: key, message: content, kind }: Job,
  { due, signal }: { due: number; signal: AbortSignal },
): Promise<JobOutcome> {
  const name = runName(id, due);
  const { keep, saidIn, look, isStopping } = ports;
  const before = await saidIn(key, name);
  if (before === null) await keep({ key, content, kind, idempotencyKey: name });
  let readAt = Number.NEGATIVE_INFINITY;
  for (;;) {
    signal.throwIfAborted();
    // Its turn has the time that all turns have; whoever hears of its end writes it down.
    if (isStopping()) throw new DOMException("Another gateway goes on.", "AbortError");
    const standing = await look(key, { name, signal }).catch(() => undefined);
    if (standing === undefined) {
      await after(AGAIN_MS, undefined, { signal });
      continue;
    }
    if (standing.isKept) continue;
    if (standing.isInTurn && performance.now() - readAt < READ_MS) continue;
    readAt = performance.now();
    const said = await saidIn(key, name);
    if (said?.reply) return outcomeOf(said.reply.message);
    if (!standing.isInTurn) return said === null ? UNSAID : UNANSWERED;
  }
}

const UNSAID: JobOutcome = {
  outcome: "aborted",
  reason:
    "its message was taken back before its turn, or its turn could not begin; the log of the gateway that has the session tells which",
};

const UNANSWERED: JobOutcome = {
  outcome: "failed",
  reason: "its turn ended without a reply; the log of the gateway that had the session tells why",
};

/** Pure. */
function outcomeOf(reply: AssistantMessage): JobOutcome {
  const { stopReason, errorMessage: reason } = reply;
  const isFailed = stopReason === "error" || stopReason === "aborted";
  return {
    outcome: stopReason === "aborted" ? "aborted" : isFailed ? "failed" : "completed",
    ...(isFailed && reason !== undefined && { reason }),
    ...answerHead(reply),
  };
}

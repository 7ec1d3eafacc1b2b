// How new messages reach an engine of the eager lifecycle.
import { type AgentMessage, isAbort } from "@clew/plugin-sdk/core";
import type { TokenBudget } from "@clew/plugin-sdk/host";
import { describeError } from "../engine/quarantine.ts";
import { hostParams } from "./engine-params.ts";
import type { TurnRun } from "./turn-run.ts";

export interface Delivery {
  /** The active list: what the engine chose from, then the turn. */
  history: readonly AgentMessage[];
  turn: readonly AgentMessage[];
  budget: TokenBudget | undefined;
}

/**
 * Hands over what the engine has not been given (contract §3.2). False when the engine failed; that
 * is logged and the turn still stands.
 */
export async function deliverMessages(run: TurnRun, delivery: Delivery): Promise<boolean> {
  const ok = await handOver(run, delivery, firstToDeliver(run, delivery));
  for (const message of delivery.turn) {
    const entryId = run.state.entryIds.get(message);
    if (entryId !== undefined) run.delivered.add(entryId);
  }
  run.state.undelivered.clear();
  return ok;
}

async function handOver(
  run: TurnRun,
  { history, turn, budget }: Delivery,
  from: number,
): Promise<boolean> {
  const { engine, session, isHeartbeat } = run;
  const { sessionId, sessionKey } = session;
  if (typeof engine.afterTurn === "function")
    return attempt(run, "afterTurn", async () => {
      await engine.afterTurn?.({
        ...hostParams(run, "after-turn", budget),
        sessionFile: session.sessionFile,
        messages: history.concat(turn),
        prePromptMessageCount: from,
        isHeartbeat,
        ...(budget !== undefined && { tokenBudget: budget.tokenBudget }),
      });
    });

  const fresh = history.slice(from).concat(turn.slice(Math.max(0, from - history.length)));
  if (fresh.length === 0) return true;
  if (typeof engine.ingestBatch === "function")
    return attempt(
      run,
      "ingest",
      async () =>
        void (await engine.ingestBatch?.({ sessionId, sessionKey, messages: fresh, isHeartbeat })),
    );
  let ok = true;
  for (const message of fresh)
    ok =
      (await attempt(
        run,
        "ingest",
        async () => void (await engine.ingest({ sessionId, sessionKey, message, isHeartbeat })),
      )) && ok;
  return ok;
}

async function attempt(
  run: TurnRun,
  what: "afterTurn" | "ingest",
  call: () => Promise<void>,
): Promise<boolean> {
  try {
    await call();
    // A failure the guard answered for: the fallback stored nothing on this engine's behalf.
    return run.engine.degraded === null;
  } catch (error) {
    if (isAbort(error, run.signal)) throw error;
    run.ports.log.warn(`context engine ${what} failed: ${describeError(error)}`);
    return false;
  }
}

/**
 * Where delivery starts: at the messages of failed turns, else at the first of this turn that was
 * not delivered. By id: a compaction moves positions.
 */
function firstToDeliver({ state, delivered }: TurnRun, { history, turn }: Delivery): number {
  const { undelivered, entryIds } = state;
  const failed =
    undelivered.size === 0
      ? -1
      : history.findIndex((message) => undelivered.has(entryIds.get(message) ?? ""));
  if (failed >= 0) return failed;
  const fresh = turn.findIndex((message) => !delivered.has(entryIds.get(message) ?? ""));
  return history.length + (fresh < 0 ? turn.length : fresh);
}

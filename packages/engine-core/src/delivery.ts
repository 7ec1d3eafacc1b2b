// How new messages reach an engine of the eager lifecycle: afterTurn only, else ingestBatch, else ingest one by one.
import { type AgentMessage, isAbort } from "@clew/plugin-sdk/core";
import type { TokenBudget } from "./budget.ts";
import { hostParams } from "./engine-params.ts";
import { describeError } from "./quarantine.ts";
import type { TurnRun } from "./turn-run.ts";

export interface Delivery {
  /** The active list: what the engine chose from, then the turn. */
  history: readonly AgentMessage[];
  turn: readonly AgentMessage[];
  /** Index in that list of the first message the engine has not been given. */
  from: number;
  budget: TokenBudget | undefined;
}

/** Hands over what is new from `from` on (contract §3.2). False when the engine failed; that is logged and the turn still stands. */
export async function deliverMessages(run: TurnRun, { history, turn, from, budget }: Delivery): Promise<boolean> {
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
    return attempt(run, "ingest", async () => void (await engine.ingestBatch?.({ sessionId, sessionKey, messages: fresh, isHeartbeat })));
  let ok = true;
  for (const message of fresh)
    ok = (await attempt(run, "ingest", async () => void (await engine.ingest({ sessionId, sessionKey, message, isHeartbeat })))) && ok;
  return ok;
}

async function attempt(run: TurnRun, what: "afterTurn" | "ingest", call: () => Promise<void>): Promise<boolean> {
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

/** Where delivery starts: after what the loop delivered, else at the messages of failed turns, else at this turn's prompt. */
export function firstToDeliver(run: TurnRun, history: readonly AgentMessage[]): number {
  if (run.delivered !== undefined) return run.delivered;
  const { undelivered, entryIds } = run.state;
  const failed = undelivered.size === 0 ? -1 : history.findIndex((message) => undelivered.has(entryIds.get(message) ?? ""));
  return failed < 0 ? history.length : failed;
}

// What the model sees at each call of a turn: assembled once, or anew before every further call when the engine owns compaction.
import { type AgentMessage, isAbort } from "@clew/plugin-sdk/core";
import type { Assembly } from "./assembly.ts";
import { deliverMessages } from "./delivery.ts";
import { hostParams } from "./engine-params.ts";
import { messagesOfTurn } from "./history.ts";
import { describeError } from "./quarantine.ts";
import type { TurnRun } from "./turn-run.ts";

export interface LoopView {
  /** Chosen history, then the running turn. */
  messages: readonly AgentMessage[];
  /** History and turn as the engine was last given them. */
  seen: readonly AgentMessage[];
}

/** The view for the next model call (contract §3.5). */
export async function nextView(run: TurnRun, assembly: Assembly, last: LoopView | undefined): Promise<LoopView> {
  const turn = messagesOfTurn(run);
  const seen = [...assembly.history, ...turn];
  if (last === undefined || run.engine.info.ownsCompaction !== true) return { messages: [...assembly.messages, ...turn], seen };
  if (seen.length === last.seen.length) return last;
  try {
    await deliverMessages(run, { messages: seen, from: run.delivered ?? last.seen.length, budget: assembly.budget });
    run.delivered = seen.length;
    const { runtimeContext: _notInTheLoop, ...params } = hostParams(run, "before-turn", assembly.budget);
    const result = await run.engine.assemble({
      ...params,
      messages: seen.slice(),
      tokenBudget: assembly.budget.tokenBudget,
      model: run.report.model.resolved,
    });
    const repaired = run.ports.policy?.repairPairing({ messages: result.messages, model: run.model });
    return { messages: repaired?.messages ?? result.messages, seen };
  } catch (error) {
    if (isAbort(error, run.signal)) throw error;
    run.ports.log.warn(`context engine failed in the tool loop, using un-assembled messages for this call: ${describeError(error)}`);
    return { messages: seen, seen };
  }
}

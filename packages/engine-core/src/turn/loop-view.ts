// What the model sees at each call of a turn.
import { type AgentMessage, isAbort } from "@clew/plugin-sdk/core";
import { estimateMessages } from "@clew/plugin-sdk/tokens";
import { textOf } from "@clew/plugin-sdk/transcript";
import { describeError } from "../engine/quarantine.ts";
import type { Assembly } from "./assembly.ts";
import { deliverMessages } from "./delivery.ts";
import { hostParams } from "./engine-params.ts";
import { messagesOfTurn } from "./history.ts";
import { showPruned } from "./session-prune.ts";
import type { TurnRun } from "./turn-run.ts";

export interface LoopView {
  /** Chosen history, then the running turn. */
  messages: readonly AgentMessage[];
  /** How many messages of history and turn the engine was last given. */
  seen: number;
}

/**
 * The view for the next model call (contract §3.5). An engine that does not own compaction chose
 * once for the whole turn.
 */
export async function nextView(
  run: TurnRun,
  assembly: Assembly,
  last: LoopView | undefined,
): Promise<LoopView> {
  const turn = messagesOfTurn(run);
  const seen = assembly.history.length + turn.length;
  if (last === undefined || run.engine.info.ownsCompaction !== true)
    return { messages: assembly.messages.concat(turn), seen };
  if (seen === last.seen) return last;
  try {
    const messages =
      run.report.lifecycle === "durable"
        ? await assembleHistoryAgain(run, assembly, turn)
        : await assembleEverything(run, assembly, turn);
    const repaired =
      run.ports.policy?.repairPairing({ messages, model: run.model }).messages ?? messages;
    return { messages: showPruned(run, repaired), seen };
  } catch (error) {
    if (isAbort(error, run.signal)) throw error;
    run.ports.log.warn(
      `context engine failed in the tool loop, using un-assembled messages for this call: ${describeError(error)}`,
    );
    return { messages: assembly.history.concat(turn), seen };
  }
}

/** Eager: the engine is told what is new, then chooses from history and turn together. */
async function assembleEverything(
  run: TurnRun,
  assembly: Assembly,
  turn: readonly AgentMessage[],
): Promise<readonly AgentMessage[]> {
  const { budget, history } = assembly;
  await deliverMessages(run, { history, turn, budget });
  const { runtimeContext: _notInTheLoop, ...params } = hostParams(run, "before-turn", budget);
  const result = await run.engine.assemble({
    ...params,
    messages: history.concat(turn),
    tokenBudget: budget.tokenBudget,
    model: run.report.model.resolved,
  });
  return result.messages;
}

/**
 * Durable: the engine sees what was before the turn and leaves room for the
 * turn, which the host appends.
 */
async function assembleHistoryAgain(
  run: TurnRun,
  assembly: Assembly,
  turn: readonly AgentMessage[],
): Promise<readonly AgentMessage[]> {
  const { budget, history, tools } = assembly;
  const pending = estimateMessages(turn).high;
  const result = await run.engine.assemble({
    ...hostParams(run, "before-turn", budget),
    messages: history.slice(),
    tokenBudget: Math.max(1, budget.tokenBudget - Math.ceil(pending)),
    model: run.report.model.resolved,
    prompt: textOf({ role: "user", content: run.request.prompt.content }),
    availableTools: new Set(tools.map((tool) => tool.name)),
  });
  return result.messages.concat(turn);
}

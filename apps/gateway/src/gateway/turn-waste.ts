// Writes down what the turns of each conversation paid for nothing.
import type { TurnReport } from "@clew/engine-core";
import type { Costs } from "../costs/meter.ts";
import { mergeWaste, type Waste, wasteOf } from "../costs/waste.ts";
import type { Host } from "../host/host.ts";
import { costOfTry } from "../inspect/cost.ts";
import { engineOf } from "../inspect/placed-call.ts";
import type { Conversation } from "../sessions/conversations.ts";

export interface TurnWaste {
  /** To be told of each turn of the conversation, in order. */
  note(conversation: Conversation, report: TurnReport): Promise<void>;
}

export function createTurnWaste({
  costs,
  host,
}: {
  costs: Pick<Costs, "noteWaste">;
  host: Pick<Host, "pricesOf">;
}): TurnWaste {
  const { pricesOf } = host;
  return {
    async note(conversation, report) {
      const { agentId, sessionKey } = conversation.session.session;
      const byEngine = new Map<string, Waste[]>();
      for (const call of report.modelCalls) {
        const engine = engineOf({ call, report });
        const asked = { model: report.model, modelCalls: [call] };
        const found = wasteOf(asked, { pricesOf, costOf: costOfTry });
        byEngine.set(engine, [...(byEngine.get(engine) ?? []), ...found]);
      }
      for (const [engine, waste] of byEngine)
        await costs.noteWaste({ agentId, sessionKey, engine, plugin: null }, mergeWaste(waste));
    },
  };
}

// Writes down what the turns of each conversation paid for nothing.
import type { TurnReport } from "@clew/engine-core";
import type { Costs } from "../costs/meter.ts";
import { mergeWaste, type Waste, type WastingCall, wasteOf } from "../costs/waste.ts";
import type { Host } from "../host/host.ts";
import { costOfCall } from "../inspect/cost.ts";
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
  /** The last answered call, whose request the cache may hold. */
  const answered = new WeakMap<Conversation, WastingCall>();
  const { pricesOf } = host;
  return {
    async note(conversation, report) {
      const { agentId, sessionKey } = conversation.session.session;
      let before = answered.get(conversation);
      const byEngine = new Map<string, Waste[]>();
      for (const call of report.modelCalls) {
        const engine = engineOf({ call, report });
        const asked = { model: report.model, modelCalls: [call] };
        const found = wasteOf(asked, before, { pricesOf, costOf: costOfCall });
        byEngine.set(engine, [...(byEngine.get(engine) ?? []), ...found]);
        if (call.error === null) before = call;
      }
      if (before !== undefined) answered.set(conversation, withoutItems(before));
      for (const [engine, waste] of byEngine)
        await costs.noteWaste({ agentId, sessionKey, engine, plugin: null }, mergeWaste(waste));
    },
  };
}

/** What it counted is remembered, not what it said. */
const withoutItems = (call: WastingCall): WastingCall => ({
  ...call,
  ...{ system: [], tools: [], messages: { ...call.messages, items: [] } },
});

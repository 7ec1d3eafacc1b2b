// Writes down what the turns of each conversation paid for nothing.
import type { TurnReport } from "@clew/engine-core";
import type { Costs } from "../costs/meter.ts";
import { type WastingCall, wasteOf } from "../costs/waste.ts";
import type { Host } from "../host/host.ts";
import { costOfCall } from "../inspect/cost.ts";
import type { Conversation } from "../sessions/conversations.ts";
import { pricesNow } from "./prices-now.ts";

export interface TurnWaste {
  /** To be told of each turn of the conversation, in order. */
  note(conversation: Conversation, report: TurnReport): Promise<void>;
}

export function createTurnWaste({
  costs,
  host,
}: {
  costs: Pick<Costs, "noteWaste">;
  host: Pick<Host, "namedModel">;
}): TurnWaste {
  /** The last answered call, whose request the cache may hold. */
  const answered = new WeakMap<Conversation, WastingCall>();
  const pricesOf = (model: string) => pricesNow(host, model);
  return {
    async note(conversation, report) {
      const { agentId, sessionKey } = conversation.session.session;
      const before = answered.get(conversation);
      const last = report.modelCalls.findLast(({ error }) => error === null);
      if (last !== undefined) answered.set(conversation, withoutItems(last));
      const subject = { agentId, sessionKey, engine: report.engine.ran, plugin: null };
      await costs.noteWaste(subject, wasteOf(report, before, { pricesOf, costOf: costOfCall }));
    },
  };
}

/** What it counted is remembered, not what it said. */
const withoutItems = (call: WastingCall): WastingCall => ({
  ...call,
  ...{ system: [], tools: [], messages: { ...call.messages, items: [] } },
});

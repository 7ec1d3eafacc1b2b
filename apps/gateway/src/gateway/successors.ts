// Moves a conversation to the transcript an engine made for it.
import type { LogPort } from "@clew/engine-core";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import type { EventHub } from "../events/hub.ts";
import type { Host, TurnSetup } from "../host/host.ts";
import type { Conversation } from "../sessions/conversations.ts";
import type { SessionStore } from "../sessions/store.ts";
import type { TurnReports } from "./turn-reports.ts";

export interface SuccessorsOptions {
  host: Pick<Host, "workspace">;
  store: SessionStore;
  reports: TurnReports;
  log: LogPort;
  events: EventHub;
}

/** A transcript that cannot be moved to is a line in the log, and the session stays where it is. */
export function successorsOf(
  { host, store, reports, log, events }: SuccessorsOptions,
  conversation: Conversation,
): NonNullable<TurnSetup["successors"]> {
  return async (move) => {
    const cwd = host.workspace(move.from.agentId, move.from.sessionKey);
    const adopted = await store.adopt({ ...move, cwd }).catch((error: unknown) => {
      if (!ContextEngineError.is(error)) throw error;
      log.warn(error.message);
      return undefined;
    });
    if (adopted === undefined) return undefined;
    const before = conversation.session;
    conversation.session = adopted;
    await reports.close(conversation);
    await before.close();
    const { sessionKey } = adopted.session;
    events.publish({ type: "session", session: sessionKey, change: "moved" });
    return adopted;
  };
}

// Gives engines what they keep beside the sessions that this gateway has open.
import type { DeliveryLedger } from "@clew/engine-core";
import type { EngineRows, SessionRows } from "@clew/plugin-sdk/core";
import type { PostgresStore, SessionId, SessionLog } from "@clew/store-postgres";
import { keyBefore } from "../../sessions/keys.ts";

type Log = SessionLog<DeliveryLedger>;

type Rows = "log" | "engineRows" | "reserveNumbers" | "changedSessions";

export interface OpenEngineRows extends EngineRows {
  /** A session was opened; gives what is called when it is not open any more. */
  opened(log: Log): () => void;
}

/** Each opening has its own: what an engine knows of one says nothing of the next. */
export function createEngineRows(store: Pick<PostgresStore<DeliveryLedger>, Rows>): OpenEngineRows {
  const open = new Map<string, { log: Log; ofEngines: Map<string, SessionRows> }>();
  const readOf = (session: SessionId, engineId: string) => ({
    load: () => store.engineRows(session, engineId),
    lines: async (part: { after: number; limit: number }) =>
      (await store.log(session, part)).map(({ body }) => body),
  });
  const rowsOf = (log: Log, engineId: string): SessionRows => ({
    ...readOf(log.session, engineId),
    store: (rows) => log.storeRows(engineId, rows),
    beside: (sessionId) => readOf({ ...log.session, sessionId }, engineId),
    async others(since) {
      const { agentId, sessionId: own } = log.session;
      const changed = await store.changedSessions({ agentId, since });
      return changed.flatMap(({ sessionId, key, changedAt }) =>
        sessionId === own ? [] : [{ sessionId, sessionKey: keyBefore(key), changedAt }],
      );
    },
  });
  return {
    opened(log) {
      const { sessionId } = log.session;
      const opening = { log, ofEngines: new Map<string, SessionRows>() };
      open.set(sessionId, opening);
      return () => {
        if (open.get(sessionId) === opening) open.delete(sessionId);
      };
    },
    of({ sessionId }, engineId) {
      const opening = open.get(sessionId);
      if (opening === undefined) return undefined;
      const rows = opening.ofEngines.get(engineId) ?? rowsOf(opening.log, engineId);
      opening.ofEngines.set(engineId, rows);
      return rows;
    },
    reserve: (kind, numbers) => store.reserveNumbers(kind, numbers),
  };
}

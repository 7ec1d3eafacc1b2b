// Keeps for a test host which messages each engine has acknowledged, as its port asks.
import type { DeliveryChange, DeliveryPort, DeliveryRecord, Refusal } from "../../index.ts";

interface OpenRecord extends DeliveryRecord {
  acknowledged: Set<string>;
  refused: Map<string, Refusal>;
}

interface Kept {
  record: OpenRecord;
  /** Ids that calls acknowledged, beside those that were there at the engine's first sight. */
  byCalls: Set<string>;
}

/** Records of all sessions and engines of one disk, by any name of the session. */
export function deliveryRecords() {
  const sessions = new Map<string, Map<string, Kept>>();
  const enginesOf = (session: string) => {
    const engines = sessions.get(session) ?? new Map<string, Kept>();
    sessions.set(session, engines);
    return engines;
  };
  function write(session: string, engineId: string, given: DeliveryChange): void {
    const change = JSON.parse(JSON.stringify(given)) as DeliveryChange;
    const engines = enginesOf(session);
    const before = engines.get(engineId);
    const byCalls = before?.byCalls ?? new Set();
    if (change.kind === "acknowledged") for (const id of change.ids) byCalls.add(id);
    engines.set(engineId, { record: applyChange(before?.record, change), byCalls });
  }
  return {
    write,
    /** What a transcript offers the core, spread into its port; `step` is told of every write. */
    port: (
      session: string,
      step: (name: string) => Promise<void>,
    ): { deliveries: DeliveryPort } => ({
      deliveries: {
        read: (engineId) => enginesOf(session).get(engineId)?.record,
        engines: () => [...enginesOf(session).keys()],
        async save(engineId, change) {
          await step("deliveries");
          write(session, engineId, change);
          await step("deliveries:done");
        },
      },
    }),
    /** Whether it was written down that the engine sees the session. */
    knows: (session: string, engineId: string): boolean => enginesOf(session).has(engineId),
    acknowledged: (session: string, engineId: string): ReadonlySet<string> =>
      enginesOf(session).get(engineId)?.byCalls ?? new Set(),
    /** Whether it was written down anywhere that a call of the engine brought this message. */
    isWritten: (engineId: string, id: string): boolean =>
      [...sessions.values()].some((engines) => engines.get(engineId)?.byCalls.has(id)),
    /** First messages of turns that were refused so often that they are not offered any more. */
    parked(session: string, engineId: string): ReadonlySet<string> {
      const refused =
        enginesOf(session).get(engineId)?.record.refused ?? new Map<string, Refusal>();
      return new Set([...refused].flatMap(([id, { attempts }]) => (attempts >= 3 ? [id] : [])));
    },
  };
}

function applyChange(before: OpenRecord | undefined, change: DeliveryChange): OpenRecord {
  const record = before ?? { root: "", acknowledged: new Set(), refused: new Map() };
  switch (change.kind) {
    case "seen":
      for (const id of change.ids) record.acknowledged.add(id);
      return { ...record, root: record.root || change.root };
    case "acknowledged":
      for (const id of change.ids) {
        record.acknowledged.add(id);
        record.refused.delete(id);
      }
      return record;
    case "lost":
      for (const id of change.ids) record.acknowledged.delete(id);
      return record;
    case "refused": {
      const { turnId, reason, version } = change;
      const attempts = (record.refused.get(turnId)?.attempts ?? 0) + 1;
      record.refused.set(turnId, { attempts, reason, version });
      return record;
    }
    case "retry":
      record.refused.delete(change.turnId);
      return record;
  }
}

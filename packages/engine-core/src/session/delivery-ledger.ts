// What one engine has acknowledged of one session, by message id.
import type { DeliveryChange, DeliveryPort, DeliveryRecord, Refusal } from "../ports.ts";

/** Refusals after which a turn is parked, so that the turns after it go on. */
export const MAX_REFUSALS = 3;

/** True for a turn that its engine is not offered any more. */
export function isBlocked(refusal: Refusal | undefined, version: string | null): boolean {
  return refusal !== undefined && refusal.attempts >= MAX_REFUSALS && refusal.version === version;
}

/**
 * A ledger in memory; `write` makes each change durable before it counts. `earlier` are the changes
 * that were made before, in order.
 */
export function createDeliveryLedger(
  options: {
    earlier?: Iterable<{ engineId: string; change: DeliveryChange }>;
    write?: (engineId: string, change: DeliveryChange) => Promise<void>;
  } = {},
): DeliveryPort {
  const records = new Map<string, MutableRecord>();
  for (const { engineId, change } of options.earlier ?? [])
    records.set(engineId, fold(records.get(engineId), change));
  return {
    read: (engineId) => records.get(engineId),
    engines: () => [...records.keys()],
    async save(engineId, change) {
      await options.write?.(engineId, change);
      records.set(engineId, fold(records.get(engineId), change));
    },
  };
}

/**
 * What the engines know of `ids` goes on in the ledger of the transcript the session moved to; ids
 * that are not there any more may be used again.
 */
export async function carryDeliveries(
  from: DeliveryPort,
  to: DeliveryPort,
  ids: readonly string[],
): Promise<void> {
  for (const engineId of from.engines()) {
    const record = from.read(engineId);
    if (record === undefined || to.read(engineId) !== undefined) continue;
    const known = ids.filter((id) => record.acknowledged.has(id));
    await to.save(engineId, { kind: "seen", root: record.root, ids: known });
  }
}

interface MutableRecord extends DeliveryRecord {
  acknowledged: Set<string>;
  refused: Map<string, Refusal>;
}

function fold(record: MutableRecord | undefined, change: DeliveryChange): MutableRecord {
  const known = record ?? { root: "", acknowledged: new Set(), refused: new Map() };
  switch (change.kind) {
    case "seen":
      for (const id of change.ids) known.acknowledged.add(id);
      return { ...known, root: known.root || change.root };
    case "acknowledged":
      for (const id of change.ids) {
        known.acknowledged.add(id);
        known.refused.delete(id);
      }
      return known;
    case "refused": {
      const { turnId, reason, version } = change;
      const before = known.refused.get(turnId);
      const attempts = before?.version === version ? before.attempts + 1 : 1;
      known.refused.set(turnId, { attempts, reason, version });
      return known;
    }
    case "retry":
      known.refused.delete(change.turnId);
      return known;
  }
}

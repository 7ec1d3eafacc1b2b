// What one engine has acknowledged of one session, by message id.
import type {
  DeliveryChange,
  DeliveryLine,
  DeliveryPort,
  DeliveryRecord,
  Refusal,
} from "../delivery-port.ts";

/** Refusals after which a turn is parked, so that the turns after it go on. */
export const MAX_REFUSALS = 3;

/** True for a turn that its engine is not offered any more. */
export function isBlocked(refusal: Refusal | undefined, version: string | null): boolean {
  return refusal !== undefined && refusal.attempts >= MAX_REFUSALS && refusal.version === version;
}

/** A ledger that can be told of what was made durable without it. */
export interface DeliveryLedger extends DeliveryPort {
  /** Counts changes that are durable already, as after `TranscriptPort.appendStep`. */
  take(lines: readonly DeliveryLine[]): void;
}

/**
 * A ledger in memory; `write` makes each change durable before it counts. `earlier` are the changes
 * that were made before, in order.
 */
export function createDeliveryLedger(
  options: {
    earlier?: Iterable<DeliveryLine>;
    write?: (engineId: string, change: DeliveryChange) => Promise<void>;
  } = {},
): DeliveryLedger {
  const records = new Map<string, MutableRecord>();
  const take = (lines: Iterable<DeliveryLine>) => {
    for (const { engineId, change } of lines)
      records.set(engineId, fold(records.get(engineId), change));
  };
  take(options.earlier ?? []);
  return {
    take,
    read: (engineId) => records.get(engineId),
    engines: () => [...records.keys()],
    async save(engineId, change) {
      await options.write?.(engineId, change);
      take([{ engineId, change }]);
    },
  };
}

/**
 * What the ledger of the transcript a session moved to still lacks of what its engines know of
 * `ids`, refusals included; ids that are not there any more may be used again.
 */
export function planCarriedDeliveries(
  from: DeliveryPort,
  to: DeliveryPort,
  ids: readonly string[],
): DeliveryLine[] {
  return from.engines().flatMap((engineId) => {
    const record = from.read(engineId);
    const changes = record === undefined ? [] : carriedOf(record, to.read(engineId), ids);
    return changes.map((change) => ({ engineId, change }));
  });
}

function carriedOf(
  { root, acknowledged, refused }: DeliveryRecord,
  known: DeliveryRecord | undefined,
  ids: readonly string[],
): DeliveryChange[] {
  const taken = ids.filter((id) => acknowledged.has(id) && !known?.acknowledged.has(id));
  const refusals = ids.flatMap((turnId): DeliveryChange[] => {
    const refusal = refused.get(turnId);
    if (refusal === undefined) return [];
    const { attempts, reason, version } = refusal;
    const before = known?.refused.get(turnId);
    const counted = before?.version === version ? before.attempts : 0;
    // One change is one attempt.
    return Array<DeliveryChange>(Math.max(0, attempts - counted)).fill({
      kind: "refused",
      turnId,
      reason,
      version,
    });
  });
  if (known === undefined) return [{ kind: "seen", root, ids: taken }, ...refusals];
  return taken.length > 0 ? [{ kind: "acknowledged", ids: taken }, ...refusals] : refusals;
}

/** What a scan for pending turns asks of a record. */
export interface KnownDeliveries {
  readonly acknowledged: { has(id: string): boolean };
  readonly refused: { get(turnId: string): Refusal | undefined };
}

/** The record with changes that are decided and not stored yet; costs what the changes hold. */
export function withHeld(
  record: DeliveryRecord | undefined,
  changes: readonly DeliveryChange[],
): KnownDeliveries | undefined {
  if (changes.length === 0) return record;
  const refused = new Map(
    changes.flatMap((change): [string, Refusal][] => {
      const refusal = "turnId" in change && record?.refused.get(change.turnId);
      return refusal ? [[change.turnId, refusal]] : [];
    }),
  );
  let held: MutableRecord = { root: record?.root ?? "", acknowledged: new Set(), refused };
  for (const change of changes) held = fold(held, change);
  const touched = new Set(changes.flatMap((change) => ("turnId" in change ? [change.turnId] : [])));
  return {
    acknowledged: {
      has: (id) => held.acknowledged.has(id) || record?.acknowledged.has(id) === true,
    },
    refused: {
      get: (turnId) =>
        touched.has(turnId) ? held.refused.get(turnId) : record?.refused.get(turnId),
    },
  };
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
    case "lost":
      for (const id of change.ids) known.acknowledged.delete(id);
      return known;
    case "refused": {
      const { turnId, reason, version } = change;
      const before = known.refused.get(turnId);
      const attempts = before?.version === version ? before.attempts + 1 : 1;
      known.refused.set(turnId, { attempts, reason, version });
      return known;
    }
    case "retry": {
      const refusal = known.refused.get(change.turnId);
      if (refusal !== undefined)
        known.refused.set(change.turnId, { ...refusal, attempts: MAX_REFUSALS - 1 });
      return known;
    }
  }
}

// Which calls give an engine the turns it has not acknowledged.
import { messageId } from "@clew/plugin-sdk/core";
import type { EngineMethod } from "@clew/plugin-sdk/host";
import type { MessageEntry } from "@clew/plugin-sdk/transcript";
import type { TurnReport } from "../report.ts";
import type { PendingTurn } from "../session/pending-turns.ts";

/** Calls made in one go, so that a long backlog does not hold up a reply. */
const MAX_DELIVERIES = 16;

/** One call of the engine, and the messages that it acknowledges by returning. */
export interface Delivery {
  method: "commitTurn" | "afterTurn" | "ingestBatch" | "ingest";
  turn: PendingTurn;
  /** Ids of the messages that are handed over. */
  ids: readonly string[];
}

export interface DeliveryPlan {
  queue: readonly Delivery[];
  /** Turns that have to wait for another time. */
  left: number;
}

/**
 * Durable engines commit whole turns. Of the eager ones `afterTurn` is asked alone, else
 * `ingestBatch`, else `ingest` for each message (contract §3.2). One turn a call, so that each
 * turn keeps its own `isHeartbeat`; parked turns are left out.
 */
export function planDeliveries(
  turns: readonly PendingTurn[],
  lifecycle: TurnReport["lifecycle"],
  methods: ReadonlySet<EngineMethod>,
): DeliveryPlan {
  const offered = turns.filter(({ blocked }) => !blocked);
  const now = offered.slice(0, MAX_DELIVERIES);
  const method = methodFor(lifecycle, methods);
  return {
    queue: now.flatMap((turn) => deliveriesOf(turn, method)),
    left: offered.length - now.length,
  };
}

function methodFor(
  lifecycle: TurnReport["lifecycle"],
  methods: ReadonlySet<EngineMethod>,
): Delivery["method"] {
  if (lifecycle === "durable") return "commitTurn";
  if (methods.has("afterTurn")) return "afterTurn";
  return methods.has("ingestBatch") ? "ingestBatch" : "ingest";
}

function deliveriesOf(turn: PendingTurn, method: Delivery["method"]): Delivery[] {
  const all = turn.entries.map(idOf);
  const ids = all.filter((id) => turn.fresh.has(id));
  if (method === "commitTurn")
    // Only a person's or the host's own prompt admits a turn.
    return turn.entries[0]?.message.role === "user" ? [{ method, turn, ids: all }] : [];
  if (method === "ingest") return ids.map((id) => ({ method, turn, ids: [id] }));
  return [{ method, turn, ids }];
}

export const idOf = ({ id, message }: MessageEntry): string => messageId(message) ?? id;

// Which calls give an engine the turns it has not acknowledged.
import type { EngineMethod } from "@clew/plugin-sdk/host";
import type { TurnReport } from "../report/turn-report.ts";
import type { PendingTurn } from "../session/pending-turns.ts";
import type { ToldMessage } from "../session/told-messages.ts";

/** Calls made in one go, so that a long backlog does not hold up a reply. */
const MAX_DELIVERIES = 16;

/** One call of the engine, and the messages that it acknowledges by returning. */
export interface Delivery {
  method: "commitTurn" | "afterTurn" | "ingestBatch" | "ingest";
  turn: PendingTurn;
  /** What is handed over, oldest first; none = the engine is not called. */
  messages: readonly ToldMessage[];
  /** What is acknowledged with it. */
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

/**
 * A commit is the turn from its prompt to its last message (contract §1.2). What came before the
 * prompt, or after the commit, is in the history that the engine is given: a key that was committed
 * never stands for more messages than it did.
 */
function deliveriesOf(turn: PendingTurn, method: Delivery["method"]): Delivery[] {
  const { notes, messages, fresh } = turn;
  if (method === "commitTurn") {
    const ids = [...notes, ...messages].map(({ id }) => id);
    const [prompt] = messages;
    // Only a person's or the host's own prompt admits a turn.
    const isCommitted = prompt?.message.role !== "user" || !fresh.has(prompt.id);
    return [{ method, turn, messages: isCommitted ? [] : messages, ids }];
  }
  const given = [...notes, ...messages].filter(({ id }) => fresh.has(id));
  if (method === "ingest")
    return given.map((each) => ({ method, turn, messages: [each], ids: [each.id] }));
  return [{ method, turn, messages: given, ids: given.map(({ id }) => id) }];
}

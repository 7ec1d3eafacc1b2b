// Decides how much room a reply has, and lowers what its client asks for above that.
import type { BodyEdits } from "../body/edit-body.ts";
import type { DoorWire, JsonObject } from "../wires/door-wire.ts";
import { recordOf } from "../wires/json.ts";

interface Asked {
  wire: Pick<DoorWire, "replyLimits" | "thinkingLimits">;
  body: JsonObject;
  window: number;
}

const LEAST_REPLY = 1_024;
/** A budget of thinking may not be below 1,024, nor the reply's limit below the budget. */
const LEAST_THINKING_REPLY = 2_048;
const LEAST_BUDGET = 1_024;
/** Of the window: what estimates may be wrong by. */
const MARGIN = 0.02;

/** Pure. Tokens that are kept for the reply: never more than its client asks for. */
export function leastReplyOf({ wire, body, window }: Asked): number {
  const thinks = numbersAt(body, wire.thinkingLimits).length > 0;
  const least = Math.min(thinks ? LEAST_THINKING_REPLY : LEAST_REPLY, Math.floor(window / 8));
  const limits = numbersAt(body, wire.replyLimits).map(({ value }) => value);
  return limits.length === 0 ? least : Math.min(least, Math.ceil(Math.max(...limits)));
}

export interface LoweredLimits {
  values: BodyEdits["values"];
  /** The client's limit of the reply, and what it was lowered to. Absent: it stands. */
  clamped?: { from: number; to: number };
}

/** Pure. `taken`: tokens of the window that are not the reply's. */
export function planLimits(
  { wire, body, window }: Asked,
  { taken, leastReply }: { taken: number; leastReply: number },
): LoweredLimits {
  const room = Math.max(leastReply, Math.floor(window - taken - MARGIN * window));
  const over = numbersAt(body, wire.replyLimits).filter(({ value }) => value > room);
  if (over.length === 0) return { values: [] };
  const thought = Math.min(Math.max(LEAST_BUDGET, Math.floor((room * 3) / 4)), room - 1);
  const budgets = numbersAt(body, wire.thinkingLimits).filter(({ value }) => value >= room);
  return {
    values: [
      ...over.map(({ path }) => ({ path, value: room })),
      ...budgets.map(({ path }) => ({ path, value: thought })),
    ],
    clamped: { from: Math.max(...over.map(({ value }) => value)), to: room },
  };
}

/** What is no limit, as 0 for no thinking and -1 for any, is not among them. */
const numbersAt = (body: JsonObject, paths: DoorWire["replyLimits"]) =>
  paths.flatMap((path) => {
    const value = path.reduce<unknown>((at, name) => recordOf(at)[name], body);
    return typeof value === "number" && value > 0 ? [{ path, value }] : [];
  });

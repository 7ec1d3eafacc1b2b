// Decides where a client goes on that comes back to a turn.
import { type EventPlace, hasHeardNothing } from "./event-place.ts";
import type { TurnRing } from "./turn-ring.ts";

export interface ReturnPlan {
  /** It has heard, and goes on behind, this number of the ring. */
  after: number;
  /** What it heard behind the entry `keeps` (null: all of it) is void. Null: nothing is. */
  restarted: { keeps: string | null } | null;
}

/** Pure. `start`: what is its own to hear follows this number. */
export function planReturn(
  ring: Pick<TurnRing, "id" | "newest" | "numberOf" | "entryAt" | "after">,
  start: number,
  since: EventPlace | undefined,
): ReturnPlan {
  if (since === undefined || hasHeardNothing(since)) return { after: start, restarted: null };
  if (since.ring === ring.id && since.number <= ring.newest()) {
    const after = Math.max(start, since.number);
    const { isWhole } = ring.after(after);
    return { after, restarted: isWhole ? { keeps: ring.entryAt(after) } : null };
  }
  const known = since.entryId === null ? undefined : ring.numberOf(since.entryId);
  if (known === undefined) return { after: start, restarted: { keeps: null } };
  return { after: Math.max(start, known), restarted: { keeps: since.entryId } };
}

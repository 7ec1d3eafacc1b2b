// Says which turns went to keep a session's reports within their limit.
import { number } from "../text/number.ts";
import { parseCallId } from "./placed-call.ts";

/** Pure. `turns`: how many from the first on. Null: none did. */
export function describeLetGo(turns: number): string | null {
  if (turns === 0) return null;
  const which = turns === 1 ? "turn 1 was" : `turns 1–${number(turns)} were`;
  return `${which} let go (gateway.limits.reportBytes)`;
}

/** Pure. Whether a call by this name would be of those turns. */
export function isLetGo(id: string, turns: number): boolean {
  const turn = parseCallId(id)?.turn ?? 0;
  return turn > 0 && turn <= turns;
}

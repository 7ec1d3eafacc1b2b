// Says why there is no call of a turn.
import { describeMissing } from "./describe-missing.ts";
import { describeLetGo } from "./let-go.ts";
import type { CallRow, MissingTurn } from "./shapes/calls.ts";

export interface TurnAsked {
  turn: number;
  letGoTurns: number;
  unreadableTurns: readonly number[];
  missingTurns: readonly MissingTurn[];
  rows: readonly Pick<CallRow, "id" | "turn">[];
}

/** Pure. A sentence; undefined: there are calls of it. */
export function describeTurn(asked: TurnAsked): string | undefined {
  const { turn, rows, letGoTurns, unreadableTurns, missingTurns } = asked;
  if (rows.some((row) => row.turn === turn)) return undefined;
  if (turn > 0 && turn <= letGoTurns)
    return `There are no calls of turn ${turn} any more: ${describeLetGo(letGoTurns)}.`;
  if (unreadableTurns.includes(turn))
    return `The report of turn ${turn} cannot be read, so its calls are not known; “clew doctor” names the file.`;
  const [missing] = describeMissing(missingTurns.filter((each) => each.turn === turn));
  if (missing !== undefined) return `${missing}.`;
  const newest = rows.at(-1);
  if (newest === undefined)
    return `There is no call of turn ${turn}: no model was called in this session.`;
  return turn > 0 && turn < newest.turn
    ? `Turn ${turn} called no model.`
    : `There is no call of turn ${turn} in this session; the newest one is ${newest.id}.`;
}

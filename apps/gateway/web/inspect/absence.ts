// Says why a column of the inspector has nothing to show, and what to do about it.
import { describeMissing } from "../../src/inspect/describe-missing.ts";
import type { MissingTurn } from "../../src/inspect/shapes/calls.ts";
import {
  callBefore,
  callShown,
  type InspectState,
  indexOfCall,
  missingCalls,
} from "./inspect-state.ts";

type Told = Pick<
  InspectState,
  "place" | "rows" | "view" | "diff" | "answered" | "problem" | "entries"
>;

const NEXT = "“clew doctor” names damaged files; other calls can be looked at.";

/** Pure. Where there is no call to show. */
export function absenceOfCalls(
  state: Pick<
    InspectState,
    "place" | "rows" | "letGoTurns" | "isReading" | "problem" | "unreadableTurns" | "missingTurns"
  >,
): string {
  const { isReading, problem, unreadableTurns, missingTurns } = state;
  if (isReading) return "Reading the calls…";
  const unreadable = describeUnreadable(unreadableTurns);
  const missing = describeMissing(missingTurns);
  if (unreadable !== null) missing.unshift(unreadable);
  if (missing.length > 0) return missing.map((each) => `${each}.`).join(" ");
  // That there is no such call is known.
  return problem === null || problem === missingCalls(state)[0]
    ? "No model was called in this session yet, or there is no session of this name any more. After the first message, each call stands here with all that it was sent."
    : "Whether a model was called in this session is not known, for the reason above; it is asked again when the session changes, or the page is reloaded.";
}

/** Pure. Of the call that is shown; null = it is there, or is being read. */
export function absenceOf(state: Told): string | null {
  const id = callShown(state);
  const { view, answered, problem, entries } = state;
  const lost = (view?.row ?? entries.of)?.lost ?? null;
  if (lost !== null) return `${lost} ${NEXT}`;
  if (view !== null) return null;
  if (answered.call === id)
    return `The gateway can tell nothing of call ${id}: its report is gone or damaged. ${NEXT}`;
  return problem === null
    ? null
    : `Call ${id} could not be read, as is said above; reload the page.`;
}

/** Pure. Of what is different since the call before; null = it is there, or is being read. */
export function absenceOfDiff(state: Told): string | null {
  const [id, from] = [callShown(state), callBefore(state)];
  const { diff, answered, problem, rows } = state;
  const lost = [id, from].find((each) => (rows[indexOfCall(rows, each)]?.lost ?? null) !== null);
  if (lost !== undefined)
    return `What is different cannot be told, since what call ${lost} was sent cannot. ${NEXT}`;
  if (diff !== null || from === null) return null;
  if (answered.call === id && answered.from === from)
    return `The gateway cannot compare call ${from} with call ${id}: the report of one of them is gone or damaged. ${NEXT}`;
  return problem === null
    ? null
    : "What is different could not be read, as is said above; reload the page.";
}

/** Pure. Of turns of which there are no calls to show: "30", "36–51"; null = there are none. */
export function describeUnreadable(turns: readonly number[]): string | null {
  if (turns.length === 0) return null;
  return `Of ${namesOf(turns)} nothing can be read: “clew doctor” names the file`;
}

/** Pure. Which turns have no report, in a few words; null = there are none. */
export function nameMissing(turns: readonly Pick<MissingTurn, "turn">[]): string | null {
  if (turns.length === 0) return null;
  const numbers = turns.flatMap(({ turn }) => turn ?? []);
  const others = turns.length - numbers.length;
  const more =
    others === 0 ? [] : [others === 1 ? "a turn without number" : `${others} turns without number`];
  const names = [...(numbers.length === 0 ? [] : [namesOf(numbers)]), ...more].join(" and ");
  const has = turns.length === 1 ? "has" : "have";
  return `${names[0]!.toUpperCase()}${names.slice(1)} ${has} no report`;
}

/** "turn 30", "turns 30, 36–51". */
function namesOf(turns: readonly number[]): string {
  const ranges: [number, number][] = [];
  for (const turn of turns) {
    const last = ranges.at(-1);
    if (last?.[1] === turn - 1) last[1] = turn;
    else ranges.push([turn, turn]);
  }
  const names = ranges.map(([from, to]) => (from === to ? `${from}` : `${from}–${to}`));
  return `${turns.length === 1 ? "turn" : "turns"} ${names.join(", ")}`;
}

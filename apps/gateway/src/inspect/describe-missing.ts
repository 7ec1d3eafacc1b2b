// Says which turns have no report, and what is known of them.
import { dollarsText } from "../costs/describe.ts";
import { counted } from "../text/number.ts";
import type { MissingTurn } from "./shapes/calls.ts";

/** So many are told one by one. */
const MOST_TOLD = 5;

/** Pure. A sentence each, without its end. */
export function describeMissing(turns: readonly MissingTurn[]): string[] {
  const told = turns.slice(0, MOST_TOLD).map(describeOne);
  const more = turns.length - told.length;
  return more === 0
    ? told
    : [...told, `The reports of ${counted(more, "more turn")} are missing as well`];
}

function describeOne({ turn, at, replies, calls, unended, cost }: MissingTurn): string {
  const begun = at === null ? "" : ` of ${at.slice(0, 19).replace("T", " ")}`;
  const which = turn === null ? `a turn${begun}` : `turn ${turn}${begun}`;
  const paid = calls === null ? "" : `, ${counted(calls, "model call")} written down`;
  const price = cost === null ? "" : ` at ${dollarsText(cost.total)}`;
  const cut =
    unended === 0
      ? ""
      : `, and of ${counted(unended, "call")} only that ${unended === 1 ? "it" : "they"} began`;
  const known =
    replies === null
      ? "the gateway ended in it, or it was lost; none of it is on this branch"
      : `the gateway ended in it, or it was lost; ${counted(replies, "reply", "replies")} stored${paid}${price}${cut}`;
  return `The report of ${which} is missing: ${known}`;
}

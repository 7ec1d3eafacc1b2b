// Whether a request is an honest part of the history, in order and unaltered.
import { pairToolCalls } from "@clew/plugin-sdk/transcript";
import type { Shown } from "./shown.ts";

/** What is wrong with a request beside the whole history. */
export interface OrderFaults {
  /** A message of the history is there twice, out of order, or reads otherwise. */
  isDisordered: boolean;
  /** A call lacks its result, or a result its call, where the history has both. */
  isUnpaired: boolean;
  /** The history's newest message is not the request's last. */
  lacksNewest: boolean;
  /** Something is left out, and no message of the host or engine stands for it. */
  isUnmarked: boolean;
}

/** `full`: the history as the host would show all of it. Pure. */
export function orderFaults(full: readonly Shown[], shown: readonly Shown[]): OrderFaults {
  const places = new Map<string, number[]>();
  for (const [at, one] of full.entries()) {
    const known = places.get(keyOf(one));
    if (known === undefined) places.set(keyOf(one), [at]);
    else known.push(at);
  }
  let [end, found, made, astray] = [full.length, 0, 0, 0];
  for (const one of shown.toReversed()) {
    const at = places.get(keyOf(one))?.findLast((place) => place < end);
    if (at !== undefined) {
      end = at;
      found++;
    } else if (isMade(one) && !places.has(keyOf(one))) made++;
    else astray++;
  }
  const newest = full.at(-1);
  const last = shown.at(-1);
  return {
    isDisordered: astray > 0,
    isUnpaired: unpairedIn(shown) > unpairedIn(full),
    lacksNewest: newest !== undefined && (last === undefined || keyOf(last) !== keyOf(newest)),
    isUnmarked: found + astray < full.length && made === 0,
  };
}

/** By the engine, or by the host for it. */
const isMade = ({ id, message: { role } }: Shown) =>
  id === undefined || role === "compactionSummary" || role === "branchSummary";

function unpairedIn(shown: readonly Shown[]): number {
  const { unanswered, orphanResults } = pairToolCalls(shown.map(({ message }) => message));
  return unanswered.length + orphanResults.length;
}

const keys = new WeakMap<Shown, string>();

/** Characters by which a result that the host shortens by the window is still recognised. */
const RECOGNISED_BY = 60;

/** Equal where two say the same. */
function keyOf(shown: Shown): string {
  const known = keys.get(shown) ?? readKey(shown);
  keys.set(shown, known);
  return known;
}

function readKey({ message, texts }: Shown): string {
  return message.role === "toolResult"
    ? `result ${message.toolCallId} ${texts.join("\n").slice(0, RECOGNISED_BY)}`
    : `${message.role} ${JSON.stringify(texts)}`;
}

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
  const said = full.flatMap(piecesOf);
  const sent = shown.flatMap(piecesOf);
  const places = new Map<string, number[]>();
  for (const [at, { key }] of said.entries()) {
    const known = places.get(key);
    if (known === undefined) places.set(key, [at]);
    else known.push(at);
  }
  let [end, found, made, astray] = [said.length, 0, 0, 0];
  for (const { key, isMade } of sent.toReversed()) {
    const at = places.get(key)?.findLast((place) => place < end);
    if (at !== undefined) {
      end = at;
      found++;
    } else if (isMade && !places.has(key)) made++;
    else astray++;
  }
  const newest = said.at(-1);
  return {
    isDisordered: astray > 0,
    isUnpaired: unpairedIn(shown) > unpairedIn(full),
    lacksNewest: newest !== undefined && sent.at(-1)?.key !== newest.key,
    isUnmarked: found + astray < said.length && made === 0,
  };
}

/** By the engine, or by the host for it. */
const isMade = ({ id, message: { role } }: Shown) =>
  id === undefined || role === "compactionSummary" || role === "branchSummary";

function unpairedIn(shown: readonly Shown[]): number {
  const { unanswered, orphanResults } = pairToolCalls(shown.map(({ message }) => message));
  return unanswered.length + orphanResults.length;
}

/** What is looked up of a message, as one. */
interface Piece {
  /** Equal where two say the same. */
  readonly key: string;
  readonly isMade: boolean;
}

const known = new WeakMap<Shown, readonly Piece[]>();

function piecesOf(shown: Shown): readonly Piece[] {
  const pieces =
    known.get(shown) ?? keysOf(shown).map((key): Piece => ({ key, isMade: isMade(shown) }));
  known.set(shown, pieces);
  return pieces;
}

/** Characters by which a result that the host shortens by the window is still recognised. */
const RECOGNISED_BY = 60;

/**
 * Hosts number calls anew, so a result is known by its tool, and join messages of a person that
 * follow each other, so each text of them is known by itself.
 */
function keysOf({ message, texts }: Shown): string[] {
  if (message.role === "toolResult")
    return [`result ${message.toolName} ${texts.join("\n").slice(0, RECOGNISED_BY)}`];
  return message.role === "user" && texts.length > 0
    ? texts.map((text) => `user ${JSON.stringify([text])}`)
    : [`${message.role} ${JSON.stringify(texts)}`];
}

// Finds the branch of a session that a request goes on from.
import { type Branch, lengthOfCommonStart } from "./branches.ts";
import { commonOrder } from "./common-order.ts";
import type { KnownSession } from "./known-requests.ts";
import { isAnchor, isOfModel, tellsAlone } from "./sketch.ts";

export interface BranchFit extends Pick<Branch, "tip" | "tokens"> {
  /** True: the request's message with this token, counted among those with one, is known there. */
  has(at: number): boolean;
}

/**
 * `tokens` are the request's. It goes on from the branch whose newest reply is the last thing that
 * it has of the model, else from the one that has most of it without a gap; of equal ones from the
 * newest. What its client makes up, where `isMade`, tells nothing.
 */
export function fitBranch(
  { branches }: KnownSession,
  tokens: readonly string[],
  isMade: (at: number) => boolean,
): BranchFit {
  const [newest, ...others] = branches;
  let branch = newest!;
  if (others.length > 0) {
    const telling = tokens.map((token, at) => (isMade(at) ? NOWHERE : token));
    let best = placesIn(branch, telling);
    for (const other of others) {
      const fit = placesIn(other, telling);
      if (isBetter(fit, best)) [best, branch] = [fit, other];
    }
  }
  const { start, places } = placesIn(branch, tokens);
  return {
    ...{ tip: branch.tip, tokens: heardBranch(branch, tokens).tokens },
    has: (at) => at < start || places.has(at),
  };
}

/** No branch has this token. */
const NOWHERE = "";

interface Places {
  /** So many of both are the same from the beginning on. */
  start: number;
  /** Of those behind, each that corresponds to one of the branch. */
  places: ReadonlyMap<number, number>;
  /** True: what the model said last is the newest reply. */
  isPinned: boolean;
  /** True: so it is, and no other reply is like it. */
  isTold: boolean;
  /** The larger, the more of the request is there. */
  likeness: number;
}

const isBetter = (older: Places, newer: Places): boolean =>
  older.isPinned === newer.isPinned
    ? older.likeness > newer.likeness
    : older.isPinned && (older.isTold || older.likeness >= newer.likeness);

/** What is said on one side alone, between what is on both, tells against a branch. */
function likenessOf(places: ReadonlyMap<number, number>, start: number, known: readonly string[]) {
  if (start + places.size === 0) return 0;
  const first = start > 0 ? { at: 0, place: 0 } : firstOf(places);
  let last = { at: start - 1, place: start - 1 };
  for (const [at, place] of places) if (at > last.at) last = { at, place };
  const there = new Set(places.values());
  const isMissing = (place: number) =>
    place >= start && !there.has(place) && !isAnchor(known[place]!);
  let missing = 0;
  for (let place = first.place; place < last.place; place++) if (isMissing(place)) missing++;
  return 2 * (start + places.size) - (last.at - first.at + 1) - missing;
}

function firstOf(places: ReadonlyMap<number, number>): { at: number; place: number } {
  let first = { at: Number.POSITIVE_INFINITY, place: 0 };
  for (const [at, place] of places) if (at < first.at) first = { at, place };
  return first;
}

/** With the reply that the request has, where that was asked for again. */
function heardBranch(
  branch: Branch,
  tokens: readonly string[],
): Pick<Branch, "tokens" | "replied"> {
  const { tokens: known, replied, others = [] } = branch;
  const asked = known.slice(0, known.length - replied);
  const isOther =
    others.length > 0 &&
    newestReply(known.slice(asked.length), tokens) === undefined &&
    newestReply(others, tokens) !== undefined;
  return isOther ? { tokens: [...asked, ...others], replied: others.length } : branch;
}

function placesIn(branch: Branch, tokens: readonly string[]): Places {
  const { tokens: known, replied } = heardBranch(branch, tokens);
  const pinned = replied > 0 ? newestReply(known.slice(-replied), tokens) : undefined;
  const start = Math.min(lengthOfCommonStart(known, tokens), pinned?.from ?? tokens.length);
  const places = new Map<number, number>();
  const add = (found: ReadonlyMap<number, number>) => {
    for (const [at, place] of found) places.set(start + at, start + place);
  };
  if (pinned === undefined) add(placesOf(known.slice(start), tokens.slice(start)));
  else {
    // Nothing is known to stand behind the newest reply.
    add(placesOf(known.slice(start, -replied), tokens.slice(start, pinned.from)));
    for (let at = pinned.from; at < pinned.to; at++) places.set(at, known.length - replied);
  }
  return {
    ...{ start, places, isPinned: pinned !== undefined },
    isTold: pinned !== undefined && tokens.slice(pinned.from, pinned.to).some(tellsAlone),
    likeness: likenessOf(places, start, known),
  };
}

/** Where the model spoke last, if that is this reply. */
function newestReply(
  reply: readonly string[],
  tokens: readonly string[],
): { from: number; to: number } | undefined {
  const last = tokens.findLastIndex(isOfModel);
  let from = last + 1;
  while (from > 0 && isOfModel(tokens[from - 1]!)) from--;
  while (from <= last && !reply.includes(tokens[from]!)) from++;
  return last < 0 || from > last ? undefined : { from, to: last + 1 };
}

/**
 * Anchors first: what people say, they say again and again. Of equal words before all anchors those
 * count that stand nearest to the first.
 */
function placesOf(before: readonly string[], next: readonly string[]): Map<number, number> {
  const indexes = (tokens: readonly string[]) =>
    tokens.flatMap((token, index) => (isAnchor(token) ? [index] : []));
  const [anchorsBefore, anchorsNext] = [indexes(before), indexes(next)];
  const anchored = commonOrder(
    anchorsBefore.map((index) => before[index]!),
    anchorsNext.map((index) => next[index]!),
  );
  const places = new Map<number, number>();
  let from = { before: 0, next: 0 };
  const fillUpTo = (to: { before: number; next: number }) => {
    const [old, now] = [before.slice(from.before, to.before), next.slice(from.next, to.next)];
    if (from.next === 0 && to.next < next.length)
      for (const [at, place] of commonOrder(old.reverse(), now.reverse()))
        places.set(to.next - 1 - at, to.before - 1 - place);
    else
      for (const [at, place] of commonOrder(old, now))
        places.set(from.next + at, from.before + place);
    from = { before: to.before + 1, next: to.next + 1 };
  };
  for (const [at, place] of [...anchored].sort(([a], [b]) => a - b)) {
    const pair = { before: anchorsBefore[place]!, next: anchorsNext[at]! };
    fillUpTo(pair);
    places.set(pair.next, pair.before);
  }
  fillUpTo({ before: before.length, next: next.length });
  return places;
}

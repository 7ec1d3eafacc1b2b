// Decides which messages of a request are new to their session.
import { commonOrder } from "./common-order.ts";
import { displacedReply } from "./displaced-reply.ts";
import type { KnownRequests, KnownSession, RequestEvent } from "./known-requests.ts";
import { heldSummary, type Match, summaryIn } from "./plan-match.ts";
import { isAnchor, isSaid, type RequestSketch, type SketchedMessage } from "./sketch.ts";

/** Indexes are those of the sketch: leading messages do not count. */
export interface IngestPlan {
  /** To be stored, in order. */
  fresh: readonly number[];
  /** Stored before, or standing among what was, and not so: the client's edits. */
  edited: readonly number[];
  /** The client's own summary of what it left away. Absent: there is none. */
  summary?: number;
  /**
   * Messages that are the newest reply, stored before, whose place is among these; empty: it is one
   * of these, with more in it. Absent: it stands where it was stored.
   */
  moved?: readonly number[];
}

/** Nothing of a side request or a compaction is stored. */
export function planIngest(
  known: KnownRequests,
  match: Match,
  { messages }: RequestSketch,
): IngestPlan {
  if (match.kind !== "turn") return { fresh: [], edited: [] };
  const session = match.session === null ? undefined : known.session(match.session);
  const all = messages.map((_, index) => index);
  if (session === undefined) return { fresh: all, edited: [] };

  const rest = all.slice(match.stored);
  const summary = summaryIn(messages, session, match.stored);
  const made = madeUp(messages, summary);
  const standings = standingsOf(known, session, messages, { from: match.stored, made, summary });
  // What is known by its words alone cannot stand behind what is certainly new.
  const firstNew = rest.find((index) => hasIds(messages[index]!) && standings.get(index) === "new");
  const isKnown = (index: number) =>
    index < (firstNew ?? messages.length) && (standings.get(index) ?? "new") !== "new";
  const lastKnown = rest.findLast(isKnown) ?? match.stored - 1;
  const own = rest.filter((index) => !made.includes(index) && messages[index]!.identity !== null);
  const isEdited = (index: number) => standings.get(index) !== "known";
  // Its client has written something else around what it went on by already.
  const isRewritten =
    summary !== undefined && summary < lastKnown && goneOnBy(messages[summary]!, session);
  const isFreshSummary = (index: number) => standings.get(index) === "new" && !isRewritten;
  const displaced = displacedReply(known, session, messages, firstNew);
  if (displaced !== undefined) {
    const { from, reply } = displaced;
    return {
      fresh: all.filter((index) =>
        index === summary
          ? isFreshSummary(index)
          : index >= from && !made.includes(index) && !reply.includes(index),
      ),
      edited: own.filter((index) => index < from && isEdited(index)),
      moved: reply,
      ...(summary !== undefined && { summary }),
    };
  }
  return {
    // What a client goes on by is told once, where it begins to.
    fresh: rest.filter((index) =>
      index === summary ? isFreshSummary(index) : index > lastKnown && !made.includes(index),
    ),
    edited: own.filter((index) => index <= lastKnown && isEdited(index)),
    ...(summary !== undefined && { summary }),
  };
}

const goneOnBy = (message: SketchedMessage, session: KnownSession): boolean =>
  session.goneOnBy.includes(heldSummary(message, session) ?? "");

/** What is to be remembered of a request. */
export function requestEvent(
  known: KnownRequests,
  session: string,
  { match, plan, request }: { match: Match; plan: IngestPlan; request: RequestSketch },
): RequestEvent {
  const { messages, tools, head } = request;
  const { kind, key, family, parent } = match;
  const tokens: string[] = [];
  for (const { token } of messages) if (token !== null) tokens.push(token);
  const own = known.session(session);
  const before = own?.tokens ?? [];
  const summary =
    own === undefined || plan.summary === undefined
      ? undefined
      : heldSummary(messages[plan.summary]!, own);
  const kept = lengthOfCommonStart(before, tokens);
  const results = plan.fresh.flatMap((index) => {
    const { answers, hash } = messages[index]!;
    return answers.map((id) => [id, hash ?? ""] as const);
  });
  return {
    type: "request",
    session,
    ...(key !== undefined && { key }),
    ...(family !== undefined && { family }),
    ...(parent !== undefined && { parent }),
    ...(summary !== undefined && { summary }),
    kind,
    ...endOf(request),
    begun: messages.some(({ speaker }) => speaker === "model"),
    tools,
    head,
    kept: kind === "turn" ? kept : before.length,
    added: kind === "turn" ? tokens.slice(kept) : [],
    results,
  };
}

/** By what a request is found again as the beginning of a later one. */
export function endOf({ messages }: RequestSketch): { end: string; behindFirst?: string } {
  const { end = "", behindFirst = null } = messages.at(-1) ?? {};
  return { end, ...(behindFirst !== null && { behindFirst }) };
}

type Standing = "known" | "edited" | "new";

function standingsOf(
  known: KnownRequests,
  session: KnownSession,
  messages: readonly SketchedMessage[],
  { from, made, summary }: { from: number; made: readonly number[]; summary: number | undefined },
): Map<number, Standing> {
  const standings = new Map<number, Standing>();
  const indexes: number[] = [];
  const all: string[] = [];
  for (let index = 0; index < messages.length; index++) {
    const { token } = messages[index]!;
    if (token === null) continue;
    indexes.push(index);
    all.push(token);
  }
  const start = lengthOfCommonStart(session.tokens, all);
  const places = placesOf(session.tokens.slice(start), all.slice(start));
  // Nearly all of them stand before it.
  for (let at = indexes.findLastIndex((index) => index < from) + 1; at < indexes.length; at++) {
    const index = indexes[at]!;
    const message = messages[index]!;
    const byWords = at < start || places.has(at - start) ? "known" : "new";
    standings.set(index, hasIds(message) ? standingOfIds(known, session, message) : byWords);
  }
  const newest = messages.length - 1;
  const isLast = indexes.at(-1) === newest;
  // Behind a reply that nobody knows, because it did not come whole or is the client's own summary,
  // the same words are said anew.
  const isBehindNew =
    messages[newest - 1]?.speaker === "model" &&
    standings.get(newest - 1) === "new" &&
    (newest - 1 === summary || !made.includes(newest - 1));
  if (isLast && messages[newest]!.speaker === "person")
    standings.set(newest, isSaidAgain(session, all.at(-1)!) && !isBehindNew ? "known" : "new");
  return standings;
}

/** Anchors first: what people say, they say again and again. */
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
    const between = commonOrder(
      before.slice(from.before, to.before),
      next.slice(from.next, to.next),
    );
    for (const [at, place] of between) places.set(from.next + at, from.before + place);
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

/**
 * The request that is open is sent until it is answered; who says the same after that says it
 * anew.
 */
function isSaidAgain({ tokens }: KnownSession, token: string): boolean {
  const asked = tokens.findLastIndex((other) => !isAnchor(other));
  return tokens[asked] === token && !isSaid(tokens.at(-1));
}

const hasIds = ({ calls, answers }: SketchedMessage) => calls.length > 0 || answers.length > 0;

function standingOfIds(
  known: KnownRequests,
  session: KnownSession,
  { calls, answers, hash }: SketchedMessage,
): Standing {
  const answered = answers.map((id) => known.call(session.id, id)?.answer ?? null);
  if (calls.some((id) => known.call(session.id, id) === undefined)) return "new";
  if (answered.includes(null)) return "new";
  return answered.every((before) => before === hash) ? "known" : "edited";
}

/** The client's summary, and what some make up around it: a reply to it, or what it answers. */
function madeUp(messages: readonly SketchedMessage[], summary: number | undefined): number[] {
  if (summary === undefined) return [];
  if (messages[summary]!.speaker === "model")
    return Array.from({ length: summary + 1 }, (_, index) => index);
  const next = messages[summary + 1];
  const isReply = next?.speaker === "model" && !hasIds(next);
  return isReply ? [summary, summary + 1] : [summary];
}

function lengthOfCommonStart(a: readonly string[], b: readonly string[]): number {
  let same = 0;
  while (same < a.length && a[same] === b[same]) same++;
  return same;
}

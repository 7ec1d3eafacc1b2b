// Decides which messages of a request are new to their session.
import { lengthOfCommonStart } from "./branches.ts";
import { isSure } from "./call-key.ts";
import { displacedReply } from "./displaced-reply.ts";
import { type BranchFit, fitBranch } from "./fit-branch.ts";
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
  const { branch, standings } = standingsOf(known, session, messages, {
    ...{ from: match.stored, made, summary },
  });
  const standing = (index: number) => standings.get(index) ?? "new";
  const isFresh = (index: number) => standing(index) === "new" || standing(index) === "unheard";
  // What is known by its place alone cannot stand behind what is certainly new.
  const firstNew = rest.find((index) => standing(index) === "unheard");
  const isKnown = (index: number) => index < (firstNew ?? messages.length) && !isFresh(index);
  const lastKnown = rest.findLast(isKnown) ?? match.stored - 1;
  const own = rest.filter((index) => !made.includes(index) && messages[index]!.identity !== null);
  const isEdited = (index: number) => standings.get(index) !== "known";
  // Its client has written something else around what it went on by already.
  const isRewritten =
    summary !== undefined && summary < lastKnown && goneOnBy(messages[summary]!, session);
  const isFreshSummary = (index: number) => isFresh(index) && standings.has(index) && !isRewritten;
  const asked = { session: session.id, tip: branch.tip };
  const isOfIt = (index: number) =>
    index >= match.stored &&
    messages[index]!.speaker === "model" &&
    isFresh(index) &&
    !made.includes(index);
  const newFrom = firstNew === undefined ? undefined : startOfReply(firstNew, isOfIt);
  const displaced = displacedReply(known, asked, messages, newFrom);
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

/** What the model said right before a call is of the same reply, on wires where it stands alone. */
function startOfReply(index: number, isOfIt: (index: number) => boolean): number {
  let start = index;
  while (start > 0 && isOfIt(start - 1)) start--;
  return start;
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
  const before = own?.branches[0]?.tokens ?? [];
  const summary =
    own === undefined || plan.summary === undefined
      ? undefined
      : heldSummary(messages[plan.summary]!, own);
  const kept = lengthOfCommonStart(before, tokens);
  const results = plan.fresh.flatMap((index) => {
    const { answerKeys, hash } = messages[index]!;
    return answerKeys.map((key) => [key, hash ?? ""] as const);
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

/** "unheard": certainly new, by ids of calls · "new": by its place. */
type Standing = "known" | "edited" | "new" | "unheard";

function standingsOf(
  known: KnownRequests,
  session: KnownSession,
  messages: readonly SketchedMessage[],
  { from, made, summary }: { from: number; made: readonly number[]; summary: number | undefined },
): { branch: BranchFit; standings: Map<number, Standing> } {
  const standings = new Map<number, Standing>();
  const indexes: number[] = [];
  const all: string[] = [];
  for (let index = 0; index < messages.length; index++) {
    const { token } = messages[index]!;
    if (token === null) continue;
    indexes.push(index);
    all.push(token);
  }
  const branch = fitBranch(
    session,
    all,
    (at) => indexes[at] !== summary && made.includes(indexes[at]!),
  );
  const isOnce = onceIn(messages);
  // Nearly all of them stand before it.
  for (let at = indexes.findLastIndex((index) => index < from) + 1; at < indexes.length; at++) {
    const index = indexes[at]!;
    const message = messages[index]!;
    standings.set(index, standingOf(known, session, message, { isThere: branch.has(at), isOnce }));
  }
  const newest = messages.length - 1;
  const isLast = indexes.at(-1) === newest;
  // Behind a reply that nobody knows, because it did not come whole or is the client's own summary,
  // the same words are said anew.
  const isBehindNew =
    messages[newest - 1]?.speaker === "model" &&
    isNewOne(standings.get(newest - 1)) &&
    (newest - 1 === summary || !made.includes(newest - 1));
  if (isLast && messages[newest]!.speaker === "person")
    standings.set(
      newest,
      isSaidAgain(branch, all, made.includes(newest - 1)) && !isBehindNew ? "known" : "new",
    );
  return { branch, standings };
}

const isNewOne = (standing: Standing | undefined) => standing === "new" || standing === "unheard";

/**
 * The request that is open is sent until it is answered; who says the same after that says it
 * anew.
 */
function isSaidAgain(
  { tokens }: BranchFit,
  all: readonly string[],
  isBehindMade: boolean,
): boolean {
  const before = all.at(-2);
  const asked = tokens.findLastIndex((other) => !isAnchor(other));
  // Where the reply before it is another, it was asked in another branch.
  const isThere =
    isBehindMade || before === undefined || !isSaid(before) || tokens[asked - 1] === before;
  return tokens[asked] === all.at(-1) && isThere && !isSaid(tokens.at(-1));
}

const hasIds = ({ calls, answers }: SketchedMessage) => calls.length > 0 || answers.length > 0;

/** Keys that one message alone has: a server may give an id again, whatever it looks like. */
function onceIn(messages: readonly SketchedMessage[]): (key: string) => boolean {
  const made = new Set<string>();
  const again = new Set<string>();
  for (const { callKeys } of messages)
    for (const key of callKeys)
      if (made.has(key)) again.add(key);
      else made.add(key);
  return (key) => isSure(key) && !again.has(key);
}

function standingOf(
  known: KnownRequests,
  session: KnownSession,
  { callKeys, answerKeys, hash }: SketchedMessage,
  { isThere, isOnce }: { isThere: boolean; isOnce: (key: string) => boolean },
): Standing {
  const answered = answerKeys.map((key) => known.call(session.id, key)?.answer ?? null);
  if (callKeys.some((key) => known.call(session.id, key) === undefined)) return "unheard";
  if (answered.includes(null)) return "unheard";
  const keys = [...callKeys, ...answerKeys];
  if (!isThere && !keys.some(isOnce)) return "new";
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

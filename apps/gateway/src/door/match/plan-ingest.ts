// Decides which messages of a request are new to their session.
import { type AskedSummary, placesWhenAsked } from "./asked-summary.ts";
import { lengthOfCommonStart } from "./branches.ts";
import { isSure } from "./call-key.ts";
import { type HeldSummary, summaryIn } from "./client-summary.ts";
import { displacedReply } from "./displaced-reply.ts";
import { type BranchFit, fitBranch } from "./fit-branch.ts";
import type { KnownRequests, KnownSession, RequestEvent } from "./known-requests.ts";
import type { Match } from "./plan-match.ts";
import { isAnchor, isSaid, type RequestSketch, type SketchedMessage } from "./sketch.ts";
import { mayAskForSummary } from "./summary-wish.ts";

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
  /** By what the summary is known from then on. Absent: there is none. */
  goesOnBy?: string;
  /**
   * Tokens of what was stored last, and was no turn: a request for this summary, and the summary.
   * Absent: nothing was.
   */
  takenBack?: readonly string[];
  /** Beside a session: what no session stores. Absent: nothing is to be known of it. */
  unstored?: readonly number[];
}

/** Nothing of a side request or a compaction is stored. */
export function planIngest(known: KnownRequests, match: Match, request: RequestSketch): IngestPlan {
  if (match.kind === "turn") return planTurn(known, match, request);
  const nothing = { fresh: [], edited: [] };
  if (!asksBeside(match, request)) return nothing;
  return { ...nothing, unstored: planTurn(known, match, request).fresh };
}

/** True: what its client had then tells later what is new behind the reply. */
const asksBeside = ({ kind }: Match, request: RequestSketch): boolean =>
  kind === "compaction"
    ? request.messages.some(({ speaker }) => speaker === "model")
    : mayAskForSummary(request);

function planTurn(known: KnownRequests, match: Match, request: RequestSketch): IngestPlan {
  const { messages } = request;
  const session = match.session === null ? undefined : known.session(match.session);
  const all = messages.map((_, index) => index);
  if (session === undefined) return { fresh: all, edited: [] };

  const rest = all.slice(match.stored);
  const held = summaryIn(request, session, match.stored) ?? inPlace(request, session, match);
  const summary = held?.index;
  const hasGoneOn = held !== undefined && session.goneOnBy.includes(held.hash);
  const asked = hasGoneOn ? undefined : held?.asked;
  const made = madeUp(messages, summary);
  const { branch, standings, pending } = standingsOf(known, session, messages, {
    ...{ from: match.stored, made, summary, asked },
  });
  const standing = (index: number) => standings.get(index) ?? "new";
  const isFresh = (index: number) => standing(index) === "new" || standing(index) === "unheard";
  // What is known by its place alone cannot stand behind what is certainly new.
  const firstNew = rest.find((index) => standing(index) === "unheard");
  const isKnown = (index: number) => index < (firstNew ?? messages.length) && !isFresh(index);
  const lastKnown = rest.findLast(isKnown) ?? match.stored - 1;
  const own = rest.filter((index) => !made.includes(index) && messages[index]!.identity !== null);
  const isEdited = (index: number) => standings.get(index) !== "known" && !pending.has(index);
  // Its client has written something else around what it went on by already.
  const isRewritten = summary !== undefined && summary < lastKnown && hasGoneOn;
  const isFreshSummary = (index: number) =>
    index < match.stored || (isFresh(index) && standings.has(index) && !isRewritten);
  const summaryTold: Pick<IngestPlan, "summary" | "goesOnBy" | "takenBack"> =
    held === undefined
      ? {}
      : {
          ...{ summary: held.index, goesOnBy: held.hash },
          ...(asked?.isTurn && { takenBack: askingOf(asked, session) }),
        };
  // What it begins with is where it goes on from, however much of it another window has.
  const begun = messages[match.stored - 1]?.end;
  const tip = session.branches.some((each) => each.tip === begun) ? begun! : branch.tip;
  const at = { session: session.id, tip };
  const isOfIt = (index: number) =>
    index >= match.stored &&
    messages[index]!.speaker === "model" &&
    isFresh(index) &&
    !made.includes(index);
  const newFrom = firstNew === undefined ? undefined : startOfReply(firstNew, isOfIt);
  const displaced = displacedReply(known, at, messages, newFrom);
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
      ...summaryTold,
    };
  }
  return {
    // What a client goes on by is told once, where it begins to.
    fresh: all.filter((index) =>
      index === summary
        ? isFreshSummary(index)
        : index >= match.stored &&
          (index > lastKnown || pending.has(index)) &&
          !made.includes(index),
    ),
    edited: own.filter((index) => index <= lastKnown && isEdited(index)),
    ...summaryTold,
  };
}

/** Another summary in the place of the one before, where the rest is known to go on. */
function inPlace(
  request: RequestSketch,
  session: KnownSession,
  { stored }: Match,
): HeldSummary | undefined {
  const [first] = request.messages;
  const isThere = session.branches.some(({ tokens }) => tokens[0] === first?.token);
  if (stored === 0 || first === undefined || isThere) return undefined;
  const held = summaryIn({ ...request, messages: [first] }, session);
  return held && session.goneOnBy.includes(held.hash) ? undefined : held;
}

/** What was stored of a request for a summary that seemed to be a turn. */
function askingOf({ end, tokens }: AskedSummary, { branches }: KnownSession): readonly string[] {
  const { replied = 0, tokens: all = [] } = branches.find(({ tip }) => tip === end) ?? {};
  return [...tokens.slice(-1), ...(replied > 0 ? all.slice(-replied) : [])];
}

/** What the model said right before a call is of the same reply, on wires where it stands alone. */
function startOfReply(index: number, isOfIt: (index: number) => boolean): number {
  let start = index;
  while (start > 0 && isOfIt(start - 1)) start--;
  return start;
}

/** What is to be remembered of a request. */
export function requestEvent(
  known: KnownRequests,
  session: string,
  { match, plan, request }: { match: Match; plan: IngestPlan; request: RequestSketch },
): RequestEvent {
  const { messages, tools, head } = request;
  const { kind, key, family, parent } = match;
  const tokens: string[] = [];
  const unstored: number[] = [];
  for (const [index, { token }] of messages.entries()) {
    if (token === null) continue;
    if (plan.unstored?.includes(index)) unstored.push(tokens.length);
    tokens.push(token);
  }
  const before = known.session(session)?.branches[0]?.tokens ?? [];
  const { goesOnBy } = plan;
  const asks = kind === "turn" ? mayAskForSummary(request) : plan.unstored !== undefined;
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
    ...(goesOnBy !== undefined && { summary: goesOnBy }),
    ...(asks && { asks }),
    ...(unstored.length > 0 && { unstored }),
    kind,
    ...endOf(request),
    begun: match.begun,
    tools,
    head,
    kept: kind === "turn" || asks ? kept : before.length,
    added: kind === "turn" || asks ? tokens.slice(kept) : [],
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
  {
    from,
    made,
    summary,
    asked,
  }: {
    from: number;
    made: readonly number[];
    summary: number | undefined;
    /** When its client had all that it goes on from. Undefined: nobody knows. */
    asked: AskedSummary | undefined;
  },
): { branch: BranchFit; standings: Map<number, Standing>; pending: ReadonlySet<number> } {
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
  const summaryAt = indexes.indexOf(summary ?? -1);
  const lastMade = indexes.findLastIndex((index) => made.includes(index));
  const places =
    asked === undefined || summaryAt < 0
      ? undefined
      : placesWhenAsked(asked, all, { summary: summaryAt, behind: lastMade + 1 });
  const pending = new Set<number>();
  // Nearly all of them stand before it.
  for (let at = indexes.findLastIndex((index) => index < from) + 1; at < indexes.length; at++) {
    const index = indexes[at]!;
    const message = messages[index]!;
    const place = places?.get(at);
    const isThere = place === undefined ? branch.has(at) : !asked!.unstored.has(place);
    const standing = standingOf(known, session, message, { isThere, isOnce });
    standings.set(index, standing);
    if (place !== undefined && isNewOne(standing)) pending.add(index);
  }
  const newest = messages.length - 1;
  const isLast = indexes.at(-1) === newest;
  // Behind a reply that nobody knows, because it did not come whole or is the client's own summary,
  // the same words are said anew.
  const isBehindNew =
    messages[newest - 1]?.speaker === "model" &&
    isNewOne(standings.get(newest - 1)) &&
    (newest - 1 === summary || !made.includes(newest - 1));
  // A wish that was stored as a turn is none of the person's words.
  const said = asked?.end === branch.tip ? asked.tokens.slice(0, -1) : branch.tokens;
  const wasThere = isLast && places?.has(indexes.length - 1) === true;
  if (isLast && !wasThere && messages[newest]!.speaker === "person")
    standings.set(
      newest,
      (isSaidAgain(said, all, made.includes(newest - 1)) && !isBehindNew) || isWithin(branch, all)
        ? "known"
        : "new",
    );
  return { branch, standings, pending };
}

const isNewOne = (standing: Standing | undefined) => standing === "new" || standing === "unheard";

/**
 * The request that is open is sent until it is answered; who says the same after that says it
 * anew.
 */
function isSaidAgain(
  tokens: readonly string[],
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

/** Another request had all of it, and more behind: a wish for a summary that was given up. */
const isWithin = ({ tokens }: BranchFit, all: readonly string[]): boolean =>
  tokens.length > all.length && lengthOfCommonStart(tokens, all) === all.length;

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

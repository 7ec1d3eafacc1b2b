// Decides which session a request continues, and by what it was recognised.
import { lengthOfCommonStart } from "./branches.ts";
import { sessionOfAnswer, sessionOfReplies } from "./by-replies.ts";
import { sessionOfShownCalls } from "./by-shown-calls.ts";
import { isSure } from "./call-key.ts";
import { holdersIn, summaryIn } from "./client-summary.ts";
import type { KnownEnd, KnownRequests, KnownSession, RequestKind } from "./known-requests.ts";
import { isOneText, quotes } from "./one-text.ts";
import { fitOfReply, isLike, type ReplyFit } from "./reply-fit.ts";
import type { RequestSketch } from "./sketch.ts";
import { asksForSummary, isAsking, mayAskForSummary, wishesBeside } from "./summary-wish.ts";

/** In the order in which they are tried. */
export type MatchedBy = "key" | "prefix" | "call-id" | "summary" | "words" | "nothing";

export interface Match {
  /** Null: it opens a session. */
  session: string | null;
  by: MatchedBy;
  kind: RequestKind;
  /** The client's name of a session to be opened. Absent: it has none. */
  key?: string;
  /** What it shares with others. Absent: nothing is told. */
  family?: string;
  /** The session that started this one. Absent: none is known. */
  parent?: string;
  /** Messages that an earlier request had just so, and the reply behind them. */
  known: number;
  /** The same of an earlier turn, of which all is stored. */
  stored: number;
  /** True: a model that was asked here has spoken in it; what its client brings may be examples. */
  begun: boolean;
  /** True: beside the session, and its client may go on by the reply. */
  isForSummary: boolean;
}

/**
 * Reads what is known and nothing else. A request that continues two sessions equally well
 * continues the one whose newest turn it goes on from, the older one first.
 */
export function planMatch(known: KnownRequests, request: RequestSketch): Match {
  const place = placeOf(known, request);
  const found = place.own === undefined ? undefined : matchedByKey(known, request, place.own);
  const match = found ?? matchedByContents(known, request, place);
  const session = match && known.session(match.session);
  const { key, family, parent } = place;
  const names = {
    ...(key !== undefined && { key }),
    ...(family !== undefined && { family }),
    // A request of a session without tools has its key, too, and was not started by it.
    ...(parent !== undefined && parent !== match?.session && { parent }),
  };
  if (match === undefined || session === undefined)
    return {
      ...{ session: null, by: "nothing", kind: "turn", known: 0, stored: 0 },
      ...{ begun: false, isForSummary: false, ...names },
    };
  const kind = kindOf(request, session, match);
  const { by, known: recognised, isFirst = false } = match;
  const stored = storedOf(known, request, match);
  const begun = !isFirst && request.messages.some(({ speaker }) => speaker === "model");
  const isForSummary = kind === "compaction" || (kind === "side" && wishesBeside(request, session));
  return {
    ...{ session: session.id, by, kind, known: recognised, stored, begun, isForSummary, ...names },
  };
}

/**
 * What was asked beside the session is stored when a turn goes on from it, and so is what nobody
 * knows to be stored.
 */
function storedOf(
  known: KnownRequests,
  request: RequestSketch,
  { session, known: recognised, end }: Found,
): number {
  if (end === undefined || isStored(end)) return recognised;
  const place: Place = { mayBe: (found) => found.session === session, isStored: true };
  return matchedByEnd(known, request, place, "sure")?.known ?? 0;
}

/** Among which sessions a request may be found, and what a new one would be called. */
interface Place {
  /** The session that has its key. */
  own?: KnownSession | undefined;
  key?: string | undefined;
  family?: string | undefined;
  parent?: string | undefined;
  mayBe(found: { session: string }): boolean;
  /** True: what the request had that this one goes on from is stored. Absent: it may be. */
  isStored?: boolean;
}

const isStored = ({ kind, opening }: KnownEnd) => kind === "turn" && opening !== true;

/**
 * A key names the requests with tools. Those without may have nothing to do with the conversation,
 * a title for example: they are looked for by their contents, among others of that key.
 */
function placeOf(known: KnownRequests, { client, tools }: RequestSketch): Place {
  const { key, family } = client;
  const own = key === undefined ? undefined : known.sessionOfKey(key);
  const parent = client.parent === undefined ? undefined : known.sessionOfKey(client.parent)?.id;
  const isKeyless = (id: string) => {
    const session = known.session(id);
    return session !== undefined && session.key === undefined ? session : undefined;
  };
  if (key === undefined)
    return { family, parent, mayBe: ({ session }) => isKeyless(session) !== undefined };
  if (tools.length > 0) return { own, key, family, parent, mayBe: () => false };
  return {
    own,
    family: key,
    parent: own?.id ?? parent,
    mayBe: ({ session }) => isKeyless(session)?.family === key,
  };
}

interface Found {
  session: string;
  by: MatchedBy;
  known: number;
  /** Absent: no earlier request is the beginning of this one. */
  end?: KnownEnd;
  /** True: the first request again, or something else in its place. Absent: it is another. */
  isFirst?: true;
  /** True: a call of the session is in it. Absent: nobody has looked, or none is. */
  isNamed?: boolean;
}

function matchedByKey(
  known: KnownRequests,
  request: RequestSketch,
  own: KnownSession,
): Found | undefined {
  const place: Place = { family: own.family, mayBe: ({ session }) => session === own.id };
  const found =
    matchedByEnd(known, request, place, "sure") ?? matchedByEnd(known, request, place, "open");
  if (found !== undefined) return { ...found, by: "key" };
  const isOwn = (key: string) => known.call(own.id, key) !== undefined;
  const isNamed = request.messages.some(({ callKeys }) => callKeys.some(isOwn));
  const byKey: Found = { session: own.id, by: "key", known: 0, isNamed };
  const isBeside =
    isToolless(request, own) && !goesOn(request, own, byKey) && !request.client.compacts;
  return isBeside && !quotes(request, [own]).has(own) && !wishesSummary(request, own)
    ? undefined
    : byKey;
}

/**
 * At length, under its key, and once it goes on: what a client puts into its text of what was said
 * may be too short, or gone since, to be found again.
 */
const wishesSummary = ({ messages }: RequestSketch, { provisional }: KnownSession) =>
  !provisional &&
  messages.every(({ speaker }) => speaker === "person") &&
  isAsking(messages.at(-1));

const matchedByContents = (
  known: KnownRequests,
  request: RequestSketch,
  place: Place,
): Found | undefined =>
  matchedByEnd(known, request, place, "sure") ??
  matchedBehindFirst(known, request, place) ??
  matchedByCall(known, request, place) ??
  matchedBySummary(known, request, place) ??
  matchedByReplies(known, request, place) ??
  matchedByShownCalls(known, request, place) ??
  matchedByQuotes(known, request, place) ??
  matchedByEnd(known, request, place, "open");

/**
 * The longest known request that this one begins with, and the reply to it behind; "open": where
 * nobody knows what the reply was, or it was cut short and may have been dropped, if one session
 * alone was asked so.
 */
function matchedByEnd(
  known: KnownRequests,
  request: RequestSketch,
  { family, mayBe, isStored: wantsStored = false }: Place,
  wanted: "sure" | "open",
): Found | undefined {
  const { messages } = request;
  for (let index = messages.length - 1; index >= 0; index--) {
    const { end: hash, identity } = messages[index]!;
    if (identity === null) continue;
    const isNewest = index === messages.length - 1;
    const ends = known.endsAt(hash).filter((end) => {
      if (wantsStored && !isStored(end)) return false;
      return mayBe(end) && (isNewest || !isOfText(known, end));
    });
    if (ends.length === 0) continue;
    const following = messages.slice(index + 1);
    const fitting = ends
      .map((end) => ({ end, ...fitOfReply(end, request, following) }))
      .filter(({ end, fit }) => {
        if (fit !== "again" && fit !== "dropped") return fit === wanted;
        // Where its session went on, or others began alike, it may be somebody else who asks.
        const isNewest =
          end.kind !== "turn" || known.session(end.session)?.branches[0]?.tip === hash;
        const isIt = fit === "again" ? wanted === "sure" : wanted === "open" && ends.length === 1;
        return isNewest && isIt;
      });
    if (fitting.length === 0 || (wanted === "open" && fitting.length > 1)) continue;
    const best = pickBest(known, request, fitting, { hash, family });
    return best && foundAt(index, best);
  }
  return undefined;
}

/**
 * Where no tools tell what is asked beside a session, who goes on behind the reply to a text of it
 * has a conversation of its own.
 */
const isOfText = (known: KnownRequests, { kind, begun, session }: KnownEnd): boolean =>
  kind === "compaction" && !begun && known.session(session)?.tools.length === 0;

const foundAt = (index: number, { end, fit, replied }: Fitting): Found => ({
  session: end.session,
  by: "prefix",
  known: index + 1 + replied,
  end,
  ...((fit === "again" || fit === "dropped") && { isFirst: true }),
});

/**
 * As above, for a client that has written its first message, or the first part of it, anew, with
 * another date or another list of files; only where a model has spoken, and one session alone fits.
 */
function matchedBehindFirst(
  known: KnownRequests,
  request: RequestSketch,
  { mayBe }: Place,
): Found | undefined {
  const { messages } = request;
  for (let index = messages.length - 1; index >= 0; index--) {
    const { behindFirst } = messages[index]!;
    if (behindFirst === null) return undefined;
    const ends = known.endsAt(behindFirst).filter(mayBe);
    if (ends.length === 0) continue;
    const following = messages.slice(index + 1);
    const fitting = ends
      .map((end) => ({ end, ...fitOfReply(end, request, following) }))
      .filter(({ end, fit, replied }) => fit === "sure" && (end.begun || replied > 0));
    const [only, ...others] = fitting;
    if (others.length > 0) return undefined;
    if (only !== undefined) return foundAt(index, only);
  }
  return undefined;
}

interface Fitting extends ReplyFit {
  end: KnownEnd;
}

/** Undefined: it may as well be either, and none has come just so far. */
function pickBest(
  known: KnownRequests,
  request: RequestSketch,
  fitting: readonly Fitting[],
  { hash, family }: { hash: string; family: string | undefined },
): Fitting | undefined {
  const isTip = ({ end }: Fitting) =>
    known.session(end.session)?.branches.some(({ tip }) => tip === hash) ?? false;
  const claims: ((fitting: Fitting) => boolean)[] = [
    isTip,
    ({ end }) => known.session(end.session)?.family === family,
    ({ end }) => end.head === request.head,
  ];
  let left = fitting;
  for (const claim of claims) {
    const better = left.filter(claim);
    if (better.length > 0) left = better;
  }
  const [first, ...others] = left;
  if (first === undefined || others.length === 0 || isTip(first)) return first;
  const tokens = request.messages.flatMap(({ token }) => token ?? []);
  const alike = left.map((each) => {
    const { branches = [] } = known.session(each.end.session) ?? {};
    return Math.max(...branches.map((branch) => lengthOfCommonStart(branch.tokens, tokens)));
  });
  const most = Math.max(...alike);
  return alike.indexOf(most) === alike.lastIndexOf(most) ? left[alike.indexOf(most)] : undefined;
}

/** The newest id that one session alone has; ids that count up are had by anybody. */
function matchedByCall(
  known: KnownRequests,
  request: RequestSketch,
  { mayBe }: Place,
): Found | undefined {
  for (const { callKeys, answerKeys } of request.messages.toReversed())
    for (const key of [...callKeys, ...answerKeys].filter(isSure).reverse()) {
      const session = known.sessionOfCall(key);
      if (session !== undefined && mayBe({ session }))
        return { session, by: "call-id", known: 0, isNamed: true };
    }
  return undefined;
}

/** A text that one session alone was given. */
function matchedBySummary(
  known: KnownRequests,
  request: RequestSketch,
  { family, mayBe }: Place,
): Found | undefined {
  const holders = holdersIn(
    request,
    [...known.sessions()].filter((session) => mayBe({ session: session.id })),
  );
  const relatives = holders.filter((session) => session.family === family);
  const [session, ...others] = relatives.length > 0 ? relatives : holders;
  return session === undefined || others.length > 0
    ? undefined
    : { session: session.id, by: "summary", known: 0 };
}

/** By replies that were given to one session alone. */
function matchedByReplies(
  known: KnownRequests,
  request: RequestSketch,
  { mayBe }: Place,
): Found | undefined {
  const session = sessionOfAnswer(known, request, mayBe) ?? sessionOfReplies(known, request, mayBe);
  return session === undefined ? undefined : { session, by: "words", known: 0 };
}

/** By calls that its client shows to a model, also where their ids count up. */
function matchedByShownCalls(
  known: KnownRequests,
  request: RequestSketch,
  { mayBe }: Place,
): Found | undefined {
  const session = sessionOfShownCalls(known, request, mayBe);
  return session === undefined ? undefined : { session, by: "call-id", known: 0 };
}

/** Most sessions of which a long text may tell. */
const MOST_QUOTED = 200;

/**
 * The session whose replies a client without tools has put into one text, for a summary of them;
 * the newest in use are looked through.
 */
function matchedByQuotes(
  known: KnownRequests,
  request: RequestSketch,
  { mayBe }: Place,
): Found | undefined {
  if (!isOneText(request)) return undefined;
  const sessions = [...known.sessions()]
    .slice(-MOST_QUOTED)
    .filter(({ id }) => mayBe({ session: id }));
  const quoted = [...quotes(request, sessions)];
  // One without them may have begun with another such text, which nobody knew.
  const called = quoted.filter(({ tools }) => tools.length > 0);
  const [session, ...others] = called.length > 0 ? called : quoted;
  return session === undefined || others.length > 0
    ? undefined
    : { session: session.id, by: "words", known: 0 };
}

function kindOf(request: RequestSketch, session: KnownSession, found: Found): RequestKind {
  const { end } = found;
  if (request.client.compacts || asksForSummary(request)) return "compaction";
  if (isForeignWish(request, session) || isTextOf(request, session, found)) return "compaction";
  if (isToolless(request, session)) return goesOn(request, session, found) ? "turn" : "side";
  const own = new Set(session.tools);
  const shared = request.tools.filter((tool) => own.has(tool)).length;
  if (shared * 2 < own.size && request.head !== session.head) return "side";
  return end !== undefined && end.kind === "side" && isLike(request, end) ? "side" : "turn";
}

/** In a session without tools the system prompt alone tells that it is not its person who asks. */
const isForeignWish = (request: RequestSketch, { tools, head }: KnownSession) =>
  tools.length + request.tools.length === 0 && head !== request.head && mayAskForSummary(request);

/** Nor do tools tell there that all that was said, put into one text, is no turn. */
const isTextOf = (request: RequestSketch, session: KnownSession, { end }: Found): boolean =>
  session.tools.length === 0 &&
  end === undefined &&
  isOneText(request) &&
  quotes(request, [session]).has(session);

const isToolless = (request: RequestSketch, session: KnownSession) =>
  request.tools.length === 0 && session.tools.length > 0;

/**
 * With the same system prompt, and behind an earlier turn, a call or the summary of the session:
 * tools are only put away for once.
 */
function goesOn(request: RequestSketch, session: KnownSession, found?: Found): boolean {
  if (request.head !== session.head || isAsking(request.messages.at(-1))) return false;
  if (found?.end !== undefined) return found.end.kind === "turn";
  return found?.isNamed === true || summaryIn(request, session) !== undefined;
}

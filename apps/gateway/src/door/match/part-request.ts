// Says what is to be remembered of a request that brings only what is new.
import { contentHash } from "../../text/content-hash.ts";
import type { Branch } from "./branches.ts";
import { keyOfOlder } from "./call-key.ts";
import type { KnownRequests, RequestEvent } from "./known-requests.ts";
import { type IngestPlan, requestEvent } from "./plan-ingest.ts";
import type { Match } from "./plan-match.ts";
import { answering, callOfToken, type RequestSketch, type SketchedMessage } from "./sketch.ts";
import { asksForSummary } from "./summary-wish.ts";

/** A request, and what of it is new to its session. */
export interface PartRequest {
  sketch: RequestSketch;
  match: Match;
  plan: IngestPlan;
  event: RequestEvent;
}

/**
 * Of a request in a session whose history is Clew's: what stands behind the newest reply is new.
 * One that begins as the session does has all of it, and is known as any other.
 */
export function namedRequest(
  known: KnownRequests,
  session: string,
  request: RequestSketch,
): PartRequest {
  const { messages } = request;
  const before = known.session(session)?.branches[0];
  const start = messages.findLastIndex(({ speaker }) => speaker === "model") + 1;
  const hasAll =
    before === undefined || (start > 0 && messages[0]!.token === (before.tokens[0] ?? null));
  const sketch = start > 0 ? request : answeringCalls(before, request);
  const plan = { fresh: messages.map((_, index) => index).slice(start), edited: [] };
  const match: Match = {
    ...{ session: before === undefined ? null : session, by: "key", kind: "turn" },
    ...{ known: start, stored: start, isForSummary: false },
    // What a client brings along to a session that has nothing yet may be an example.
    begun: hasAll && before !== undefined,
    ...namesFor(known, session, request),
  };
  const given = { match, plan, request: sketch };
  const event = hasAll ? requestEvent(known, session, given) : partEvent(known, session, given);
  return { sketch, match, plan, event };
}

/**
 * Of one that goes on from a reply whose history its model server has. Undefined: nobody here was
 * given that reply. Asked again, it brings nothing.
 */
export function requestBehind(
  known: KnownRequests,
  request: RequestSketch,
): PartRequest | undefined {
  const { behind, compacts } = request.client;
  const session = behind === undefined ? undefined : known.sessionOfReply(behind);
  const before = known.session(session ?? "")?.branches[0];
  if (session === undefined || before === undefined) return undefined;
  const sketch = answeringCalls(before, request);
  const all = sketch.messages.map((_, index) => index);
  const isCompaction = compacts || asksForSummary(sketch);
  // The same words behind another reply are another request.
  const end = contentHash(`${behind} ${sketch.messages.at(-1)?.end}`);
  const isAgain = known.endsAt(end).some((other) => other.session === session);
  const plan = { fresh: isAgain || isCompaction ? [] : all, edited: [] };
  const match: Match = {
    ...{ session, by: "key", kind: isCompaction ? "compaction" : "turn" },
    ...{ known: 0, stored: 0, begun: true, isForSummary: isCompaction },
  };
  const event = { ...partEvent(known, session, { match, plan, request: sketch }), end };
  const isNewest = isAgain && before.tip === end;
  const kept = event.kept - (isNewest ? before.replied : 0);
  return { sketch, match, plan, event: { ...event, kept } };
}

function partEvent(
  known: KnownRequests,
  session: string,
  { match, plan, request }: { match: Match; plan: IngestPlan; request: RequestSketch },
): RequestEvent {
  const { messages } = request;
  const fresh = plan.fresh.map((index) => messages[index]!);
  const tokens = fresh.flatMap(({ token }) => token ?? []);
  const { tokens: there = [], replied = 0 } = known.session(session)?.branches[0] ?? {};
  // What had no reply is said once more.
  const isAgain =
    replied === 0 && tokens.every((token, at) => token === there.at(at - tokens.length));
  const {
    behindFirst: _whole,
    summary: _summary,
    unstored: _none,
    ...event
  } = requestEvent(known, session, { match, plan, request });
  return {
    ...event,
    ...{ part: true, begun: false, kept: there.length, added: isAgain ? [] : tokens },
  };
}

/** Its client's own name is its session's, unless another session has it. */
function namesFor(
  known: KnownRequests,
  session: string,
  { client: { key, family, parent }, tools }: RequestSketch,
): Pick<Match, "key" | "family" | "parent"> {
  const its = key === undefined ? undefined : known.sessionOfKey(key);
  const isFree = tools.length > 0 && (its === undefined || its.id === session);
  const above = parent === undefined ? undefined : known.sessionOfKey(parent)?.id;
  return {
    ...(key !== undefined && isFree && { key }),
    ...(family !== undefined && { family }),
    ...(above !== undefined && above !== session && { parent: above }),
  };
}

/** Results whose calls it leaves out are of the newest reply's. */
function answeringCalls(before: Branch | undefined, request: RequestSketch): RequestSketch {
  if (before === undefined || !request.messages.some(({ speaker }) => speaker === "tools"))
    return request;
  const { tokens, replied } = before;
  const keys = tokens.slice(tokens.length - replied).flatMap((token) => callOfToken(token) ?? []);
  let at = 0;
  const messages = request.messages.map((message): SketchedMessage => {
    if (message.speaker !== "tools") return message;
    // Results without ids come in the order of the calls.
    const own =
      message.answers.length > 0
        ? message.answers.map((id) => keyOfOlder(id, keys))
        : keys.slice(at++, at);
    return own.length === 0 ? message : answering(message, own);
  });
  return { ...request, messages };
}

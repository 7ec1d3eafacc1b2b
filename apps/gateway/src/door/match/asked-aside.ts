// Finds the turn without tools that its client goes on without.
import type { KnownRequests, KnownSession, RequestEvent } from "./known-requests.ts";
import type { RequestSketch } from "./sketch.ts";
import { mayAskForSummary } from "./summary-wish.ts";

/** By what a turn is known that may prove to be beside the session. Empty: nothing tells. */
export function asideOf(
  { tools: own }: Pick<KnownSession, "tools">,
  { messages, tools }: Pick<RequestSketch, "messages" | "tools">,
): Pick<RequestEvent, "before"> {
  const before = messages.at(-2)?.end;
  if (before === undefined || tools.length > 0 || own.length === 0) return {};
  // By a summary its client may go on later.
  const isAsked = messages.at(-1)!.speaker === "person" && !mayAskForSummary({ messages });
  return isAsked ? { before } : {};
}

/**
 * A title, a check: the request has all that was there before it, neither its words nor the reply,
 * and tools. `tokens`: what was stored of it.
 */
export function leftAside(
  known: KnownRequests,
  { id, aside, branches }: KnownSession,
  { messages, tools }: Pick<RequestSketch, "messages" | "tools">,
): { end: string; tokens: readonly string[] } | undefined {
  const newest = branches[0]!;
  if (aside === undefined || tools.length === 0 || newest.tip !== aside.end) return undefined;
  const at = messages.findLastIndex(({ end }) => end === aside.before);
  const end = known.endsAt(aside.end).find(({ session }) => session === id);
  const isHeard = end?.open === false && end.replies.some(({ whole }) => whole);
  if (at < 0 || !isHeard || newest.replied === 0) return undefined;
  const tokens = newest.tokens.slice(-newest.replied - 1);
  const isThere = messages.slice(at + 1).some(({ token }) => tokens.includes(token ?? ""));
  return isThere ? undefined : { end: aside.end, tokens };
}

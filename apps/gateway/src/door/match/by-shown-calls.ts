// Finds a session by calls of it that a client shows to a model without tools.
import type { KnownRequests } from "./known-requests.ts";
import type { RequestSketch } from "./sketch.ts";

/** Fewer calls with ids that count up may have been made just so in another conversation. */
const LEAST_SHOWN = 3;

/** The one that has all of them, and the newest alone; with tools a client goes on. */
export function sessionOfShownCalls(
  known: KnownRequests,
  { tools, messages }: Pick<RequestSketch, "tools" | "messages">,
  mayBe: (found: { session: string }) => boolean,
): string | undefined {
  if (tools.length > 0) return undefined;
  const shown = messages.flatMap(({ callKeys }) => callKeys);
  const newest = shown.at(-1);
  if (newest === undefined || shown.length < LEAST_SHOWN) return undefined;
  const session = known.sessionOfCall(newest);
  if (session === undefined || !mayBe({ session })) return undefined;
  return shown.every((key) => known.call(session, key) !== undefined) ? session : undefined;
}

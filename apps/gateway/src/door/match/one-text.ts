// Tells whose conversation has been put into one text.
import { holdsSummary } from "./client-summary.ts";
import type { KnownSession, ReplyMark } from "./known-requests.ts";
import type { RequestSketch } from "./sketch.ts";
import { isAsking, wantsSummary } from "./summary-wish.ts";
import { marksWithin } from "./word-marks.ts";

/** The fewest replies that make sure. */
const LEAST_QUOTED = 2;

/** Without tools, in a person's words alone, and with a word of a summary somewhere. */
export const isOneText = ({ messages, tools, rules }: RequestSketch): boolean =>
  tools.length === 0 &&
  messages.every(({ speaker }) => speaker === "person") &&
  (wantsSummary(rules) || messages.some(({ text }) => wantsSummary(text)));

/** Sessions whose replies it holds, all of it in a person's words. */
export function quotes(
  { messages }: Pick<RequestSketch, "messages">,
  sessions: readonly KnownSession[],
): ReadonlySet<KnownSession> {
  if (messages.some(({ speaker }) => speaker !== "person")) return new Set();
  const within = marksWithin(
    messages.map(({ text }) => text),
    sessions.flatMap(({ marks }) => marks),
  );
  const isQuoted = (session: KnownSession) => {
    const { marks, tools } = session;
    const told = marks.filter((mark) => within.has(mark));
    const isSummed = holdsSummary(messages, session);
    // Where nobody has tools, one reply is handed on by many a program.
    if (tools.length === 0) return told.length + (isSummed ? 1 : 0) >= LEAST_QUOTED;
    if (isSummed && isAsking(messages.at(-1))) return true;
    return told.length >= LEAST_QUOTED || (told.length > 0 && isAllOf(told, session));
  };
  return new Set(sessions.filter(isQuoted));
}

/** What its person took back, or asked again, is in no text that its client makes of it. */
function isAllOf(told: readonly ReplyMark[], { marks, branches }: KnownSession): boolean {
  const others = marks.filter((mark) => !told.includes(mark));
  if (others.length === 0) return true;
  const left = new Set(branches[0]?.tokens);
  return !others.some(({ tokens }) => tokens.some((token) => left.has(token)));
}

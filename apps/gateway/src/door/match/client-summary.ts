// Finds in a request the summary by which its client goes on.
import { contentHash } from "../../text/content-hash.ts";
import type { AskedSummary } from "./asked-summary.ts";
import type { KnownSession } from "./known-requests.ts";
import { isOfClient } from "./of-client.ts";
import type { RequestSketch, SketchedMessage } from "./sketch.ts";
import { marksWithin, type WordMark } from "./word-marks.ts";

/** Clients put the summary at the front, some of them behind all that the person said. */
const FRONT = 3;
const MOST_OF_FRONT = 64;

export interface HeldSummary {
  index: number;
  /** By what it is known from then on. */
  hash: string;
  /** Absent: nobody knows when it was asked for. */
  asked?: AskedSummary;
}

/** What stands before the first reply. */
function frontOf(messages: readonly SketchedMessage[]): readonly SketchedMessage[] {
  const replied = messages.findIndex(({ speaker }) => speaker === "model");
  return messages.slice(0, Math.max(FRONT, replied < 0 ? MOST_OF_FRONT : replied));
}

/**
 * The first message from `from` on that repeats what the session was answered when a summary was
 * asked for. What a model says does only at the front, where some clients put it behind a question
 * of their own; what a turn was answered counts up to the first reply alone.
 */
export function summaryIn(
  request: Pick<RequestSketch, "messages" | "head" | "tools">,
  session: KnownSession,
  from = 0,
): HeldSummary | undefined {
  const { messages } = request;
  const { summaries, asked } = session;
  const marks = marksOf(session, () => isOfClient(request)(session));
  if (summaries.length === 0 && marks.length === 0) return undefined;
  const replied = messages.findIndex(({ speaker }) => speaker === "model");
  for (const [index, message] of messages.entries()) {
    if (index < from) continue;
    if (message.speaker !== "person" && !isTold(message, index)) continue;
    const text = heldText(message, summaries);
    if (text !== undefined) {
      const found = asked.findLast((one) => one.texts.includes(text));
      return { index, hash: contentHash(text), ...(found && { asked: found }) };
    }
    if (marks.length === 0 || (replied >= 0 && index > replied)) continue;
    const [mark] = [...marksWithin([message.text], marks)].slice(-1);
    if (mark === undefined) continue;
    const found = asked.findLast((one) => one.mark?.whole === mark.whole);
    return { index, hash: mark.whole, ...(found && { asked: found }) };
  }
  return undefined;
}

const isTold = ({ speaker, calls }: SketchedMessage, index: number): boolean =>
  speaker === "model" && index < FRONT && calls.length === 0;

/**
 * Of replies to turns that were summaries, or may be. Where the system prompt or the tools are
 * others, somebody else is given such a reply to work with.
 */
function marksOf({ asked, summaryMarks }: KnownSession, isOwn: () => boolean): readonly WordMark[] {
  const open = asked.flatMap(({ mark }) => mark ?? []);
  return open.length === 0 || !isOwn() ? summaryMarks : [...summaryMarks, ...open];
}

/**
 * Those of the sessions of its client of which the front of the request holds a summary: somebody
 * else may be given one to work with.
 */
export function holdersIn(request: RequestSketch, all: readonly KnownSession[]): KnownSession[] {
  const sessions = all.filter(isOfClient(request));
  if (sessions.length === 0) return [];
  const messages = frontOf(request.messages);
  const front = { ...request, messages };
  const replied = messages.findIndex(({ speaker }) => speaker === "model");
  const told = messages.slice(0, replied < 0 ? messages.length : replied + 1);
  const texts = told
    .filter((message, index) => message.speaker === "person" || isTold(message, index))
    .map(({ text }) => text);
  // Once for all of them: there may be thousands.
  const marked = sessions.flatMap((session) => marksOf(session, () => true));
  const within = marked.length === 0 ? undefined : marksWithin(texts, marked);
  return sessions.filter(
    (session) =>
      marksOf(session, () => true).some((mark) => within?.has(mark)) ||
      (session.summaries.length > 0 &&
        summaryIn(front, { ...session, summaryMarks: [], asked: [] }) !== undefined),
  );
}

/** Of those that were asked for beside the session. */
export const holdsSummary = (
  messages: readonly SketchedMessage[],
  { summaries }: KnownSession,
): boolean =>
  summaries.length > 0 && messages.some((message) => heldText(message, summaries) !== undefined);

/** The newest that it holds word for word, else of which it holds most lines. */
const heldText = ({ text }: SketchedMessage, summaries: readonly string[]): string | undefined =>
  summaries.findLast((summary) => text.includes(summary.trim())) ??
  summaries.findLast((summary) => holdsLines(text, summary));

/** A line that may be found in a text that was put between tags or cut at its ends. */
const LEAST_LINE = 40;

function holdsLines(text: string, summary: string): boolean {
  const lines = summary.split("\n").filter((line) => line.trim().length >= LEAST_LINE);
  const found = lines.filter((line) => text.includes(line.trim()));
  return lines.length > 1 && found.length * 2 >= lines.length;
}

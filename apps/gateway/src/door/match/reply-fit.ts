// Whether what follows a known request is the reply that was given to it.
import { isNamed, isSure } from "./call-key.ts";
import type { KnownEnd, KnownReply } from "./known-requests.ts";
import { hashOfWords } from "./reply-marks.ts";
import { hashOfForm, type RequestSketch, type SketchedMessage } from "./sketch.ts";

/**
 * "sure": it is, or nothing contradicts · "open": nobody knows what the reply was · "again": no
 * model had spoken, what came was cut short, and it is asked just so again · "dropped": the same,
 * and something else is said behind it · "none": it is another's. `replied`: how many of the
 * messages are the reply.
 */
export interface ReplyFit {
  fit: "sure" | "open" | "again" | "dropped" | "none";
  replied: number;
}

export function fitOfReply(
  end: KnownEnd,
  request: Pick<RequestSketch, "head" | "tools">,
  following: readonly SketchedMessage[],
): ReplyFit {
  const until = following.findIndex(({ speaker }) => speaker !== "model");
  const said = following.slice(0, until < 0 ? following.length : until);
  const isGivenUp = !end.open && !end.answered;
  // Where no model has spoken yet, another conversation may have begun alike, unless this one was
  // left, or has no answer, and is asked just so again.
  if (said.length === 0) {
    if (end.part) return { fit: "none", replied: 0 };
    if (end.begun) return { fit: "sure", replied: 0 };
    const isCut = (isGivenUp || end.left) && isLike(request, end);
    const isAsked = following.every(({ speaker }) => speaker === "person" || speaker === "system");
    if (!isCut || !isAsked) return { fit: "none", replied: 0 };
    return { fit: following.length === 0 ? "again" : "dropped", replied: 0 };
  }
  if (end.replies.some((reply) => isReply(said, reply)))
    return { fit: "sure", replied: said.length };
  if (end.replies.some((reply) => isBehindBroken(following.slice(said.length), reply, end)))
    return { fit: "sure", replied: 0 };
  const mayBe = isGivenUp && !end.part && isLike(request, end);
  return { fit: mayBe ? "open" : "none", replied: 0 };
}

/** Of replies that broke off and were run, so many may stand before the one that came. */
const MOST_BROKEN = 3;

/** One reply has hardly more: behind so many items nothing is looked for. */
const MOST_ITEMS = 64;

/** What is shorter is said by anybody. */
const LEAST_WORDS = 40;

/** What is called tells without ids where a model had spoken before: nobody else was asked so. */
function isBehindBroken(
  following: readonly SketchedMessage[],
  reply: KnownReply,
  { begun }: KnownEnd,
): boolean {
  let run: SketchedMessage[] = [];
  let runs = 0;
  for (const message of following) {
    if (message.speaker === "person" || runs > MOST_BROKEN) return false;
    if (message.speaker === "model") run.push(message);
    else run = [];
    if (run.length === 1) runs++;
    if (run.length > MOST_ITEMS) return false;
    const hasId = message.callKeys.some((call) => isNamed(call) && reply.calls.includes(call));
    const isLong = message.text.trim().length >= LEAST_WORDS;
    const mayTell = isLong || (begun && message.forms.length > 0);
    if (hasId || (mayTell && message.speaker === "model" && isReply(run, reply))) return true;
  }
  return false;
}

/** True: both have the same system prompt and the same tools. */
export const isLike = (
  a: Pick<RequestSketch, "head" | "tools">,
  b: Pick<RequestSketch, "head" | "tools">,
): boolean => a.head === b.head && a.tools.join() === b.tools.join();

function isReply(said: readonly SketchedMessage[], reply: KnownReply): boolean {
  const calls = said.flatMap((message) => message.callKeys);
  if (calls.some(isSure) && reply.calls.some(isSure))
    return calls.some((call) => isSure(call) && reply.calls.includes(call));
  const isNamedOtherwise = (call: string) => isNamed(call) && !reply.calls.includes(call);
  if (reply.calls.some(isNamed) && calls.some(isNamedOtherwise)) return false;
  const forms = said.flatMap((message) => message.forms.map(hashOfForm));
  if (forms.length !== reply.forms.length && reply.whole) return false;
  if (forms.some((form) => !reply.forms.includes(form))) return false;
  return hashOfWords(said.map(({ text }) => text)) === reply.words;
}

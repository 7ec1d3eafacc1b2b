// Whether what follows a known request is the reply that was given to it.
import type { KnownEnd } from "./known-requests.ts";
import type { RequestSketch, SketchedMessage } from "./sketch.ts";

/**
 * "sure": it is, or nothing contradicts · "open": nobody knows what the reply was · "none": it is
 * another's. `replied`: how many of the messages are the reply.
 */
export interface ReplyFit {
  fit: "sure" | "open" | "none";
  replied: number;
}

export function fitOfReply(
  end: KnownEnd,
  request: Pick<RequestSketch, "head" | "tools">,
  following: readonly SketchedMessage[],
): ReplyFit {
  const until = following.findIndex(({ speaker }) => speaker !== "model");
  const said = following.slice(0, until < 0 ? following.length : until);
  const isAnswered = end.replies.some(({ whole }) => whole);
  const isGivenUp = !end.open && !isAnswered;
  // Where no model has spoken yet, another conversation may have begun alike, unless this one was
  // left without an answer and is asked just so again.
  const isAgain = isGivenUp && following.length === 0 && isLike(request, end);
  if (said.length === 0) return { fit: end.begun || isAgain ? "sure" : "none", replied: 0 };
  if (end.replies.some((reply) => isReply(said, reply)))
    return { fit: "sure", replied: said.length };
  return { fit: isGivenUp && isLike(request, end) ? "open" : "none", replied: 0 };
}

/** True: both have the same system prompt and the same tools. */
export const isLike = (
  a: Pick<RequestSketch, "head" | "tools">,
  b: Pick<RequestSketch, "head" | "tools">,
): boolean => a.head === b.head && a.tools.join() === b.tools.join();

type Reply = KnownEnd["replies"][number];

function isReply(said: readonly SketchedMessage[], reply: Reply): boolean {
  const calls = said.flatMap((message) => message.calls);
  const forms = said.flatMap((message) => message.forms);
  if (calls.length > 0 && reply.calls.length > 0)
    return calls.some((call) => reply.calls.includes(call));
  if (forms.length !== reply.forms.length && reply.whole) return false;
  if (forms.some((form) => !reply.forms.includes(form))) return false;
  const words = joined(said.map(({ text }) => text));
  const given = joined(reply.texts);
  // Clients trim, and keep less of a reply that broke off.
  return words === given || (words.length > 0 && given.startsWith(words) && !reply.whole);
}

const joined = (texts: readonly string[]) => texts.join("\n").replace(/\s+/g, " ").trim();

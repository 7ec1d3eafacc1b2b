// Tells a request for a summary of a conversation from what else is asked in it.
import type { RequestSketch, SketchedMessage } from "./sketch.ts";

/** Clients ask at length; a person who wants a summary does not. */
const LEAST_ASKING = 800;

export const wantsSummary = (text: string): boolean => /\b(?:summar|compact|condens)/i.test(text);

/** At such length that nothing else can be meant. */
export const isAsking = (message: SketchedMessage | undefined): boolean =>
  isWishing(message) && message!.text.length >= LEAST_ASKING;

export const asksForSummary = (request: Pick<RequestSketch, "messages">): boolean =>
  mayAskForSummary(request) && isAsking(request.messages.at(-1));

/** True: its client may go on from the reply in place of all that was said, or go on behind it. */
export const mayAskForSummary = ({ messages }: Pick<RequestSketch, "messages">): boolean =>
  isWishing(messages.at(-1)) && messages.some(({ speaker }) => speaker === "model");

/**
 * True: a request beside a session may want what its client goes on by, and no title of what was
 * said. What leads counts where it is not the session's own.
 */
export function wishesBeside(
  { messages, head, rules }: Pick<RequestSketch, "messages" | "head" | "rules">,
  session: { head: string },
): boolean {
  const hasHistory = messages.some(({ speaker }) => speaker === "model");
  const asking = hasHistory ? messages.slice(-1) : messages;
  const texts = asking.map(({ text }) => text);
  if (head !== session.head) texts.push(rules);
  return texts.some(wantsSummary) && !texts.some(wantsLabel);
}

/** In few words: at length a conversation may speak of anything. */
const wantsLabel = (text: string): boolean =>
  text.length < LEAST_ASKING &&
  /\b(?:titles?|headlines?|commit messages?|branch names?)\b/i.test(text);

const isWishing = (message: SketchedMessage | undefined): boolean =>
  message !== undefined &&
  message.speaker !== "model" &&
  wantsSummary(message.text) &&
  !wantsLabel(message.text);

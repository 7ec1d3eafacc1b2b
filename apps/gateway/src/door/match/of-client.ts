// Decides whether a request comes from the client whose session it is.
import { beginsAlike } from "./head.ts";
import type { KnownSession } from "./known-requests.ts";
import type { RequestSketch } from "./sketch.ts";

/**
 * On its wire, under its system prompt and with its tools, which it may have put away if it has
 * called some. Where it writes the prompt anew between turns, with another date or another list of
 * files, the first words of that tell.
 */
export function isOfClient({
  head,
  tools,
  messages,
}: Pick<RequestSketch, "head" | "tools" | "messages">): (session: KnownSession) => boolean {
  const names = tools.join();
  const isPutAway = tools.length === 0 && messages.some(({ speaker }) => speaker === "tools");
  return (session) => {
    const isSame = head === session.head;
    if (!isSame && !(session.rewritesHead && beginsAlike(head, session.head))) return false;
    return isPutAway || [session.tools, session.newestTools].some((own) => own.join() === names);
  };
}

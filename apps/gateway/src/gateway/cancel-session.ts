// Decides what a person's cancelling ends in a session.
import type { RepliesUnderWay } from "../door/call/under-way.ts";
import type { Cancellation } from "./cancellation.ts";
import type { ChildSessions } from "./child-sessions.ts";
import type { Sending } from "./sending.ts";

export interface CancelPorts {
  cancellation: Pick<Cancellation, "cancel">;
  children: Pick<ChildSessions, "cancelBelow">;
  sending: Pick<Sending, "cancel">;
  underWay: Pick<RepliesUnderWay, "cancel">;
}

/** By canonical key. False: nothing ran, and nothing waited. */
export function cancelSession(
  { cancellation, children, sending, underWay }: CancelPorts,
  key: string,
): boolean {
  const hadChildren = children.cancelBelow(key);
  const hadReplies = underWay.cancel(key, "running");
  const wasRunning =
    hadReplies || cancellation.cancel(key) || sending.cancel(key, "running") || hadChildren;
  if (wasRunning) return true;
  return [underWay, sending].map((each) => each.cancel(key, "waiting")).includes(true);
}

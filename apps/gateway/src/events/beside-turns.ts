// Tells those who follow a gateway what happens beside its turns.
import type { QuarantineRecord } from "@clew/engine-core";
import { describeEnd } from "../approvals/approval.ts";
import type { Watcher } from "../approvals/queue.ts";
import type { EventHub } from "./hub.ts";
import type { NewEvent } from "./shapes.ts";

/** Questions are told to the followers of the session that asks, and of those above it. */
export const watcherOf = (hub: EventHub): Watcher => ({
  canAnswer: false,
  asked(approval) {
    const { sessionKey: session, above } = approval;
    hub.publish({ type: "approval", session, approval: { ...approval } }, above);
  },
  over({ id, sessionKey: session, above }, end) {
    hub.publish({ type: "approval_end", session, approvalId: id, text: describeEnd(end) }, above);
  },
});

/** Pure. */
export const setAsideEvent = ({
  engineId,
  scope,
  operation,
  reason,
}: QuarantineRecord): NewEvent => ({
  type: "engine",
  change: "set-aside",
  engineId,
  session: scope.kind === "session" ? scope.sessionKey : null,
  reason: `${operation}: ${reason}`,
});

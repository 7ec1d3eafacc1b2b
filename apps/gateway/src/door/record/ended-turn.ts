// What became of a request that came by the door.
import type { Usage } from "@clew/plugin-sdk/core";
import type { ReplyEvent } from "../match/known-requests.ts";
import type { SessionNotes } from "../memory/journal-lines.ts";
import type { PeekedReply } from "../upstream/peek-reply.ts";
import type { MadeView } from "../view/make-view.ts";

/** What went to the model. */
export type SentView = Pick<
  MadeView,
  "plan" | "edits" | "clamped" | "fixedTokens" | "leastReply" | "tools"
>;

export interface EndedTurn {
  reply: PeekedReply;
  event: ReplyEvent;
  notes: SessionNotes;
  /** Absent: nothing was sent. */
  view?: SentView;
  durationMs: number;
  /** Present when the model looked into its session; the usage is then that of all its replies. */
  recalled?: {
    /** Calls that were answered here. */
    lookedUp: number;
    /** Of the first reply, whose request began as the last turn's did. */
    firstUsage: Usage | undefined;
  };
}

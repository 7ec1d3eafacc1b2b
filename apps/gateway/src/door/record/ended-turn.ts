// What became of a request that came by the door.
import type { ReplyEvent } from "../match/known-requests.ts";
import type { SessionNotes } from "../memory/journal-lines.ts";
import type { PeekedReply } from "../upstream/peek-reply.ts";
import type { MadeView } from "../view/make-view.ts";

/** What went to the model. */
export type SentView = Pick<MadeView, "plan" | "edits" | "clamped" | "fixedTokens" | "leastReply">;

export interface EndedTurn {
  reply: PeekedReply;
  event: ReplyEvent;
  notes: SessionNotes;
  /** Absent: nothing was sent. */
  view?: SentView;
  durationMs: number;
}

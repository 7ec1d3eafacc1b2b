// How a call of a recall tool goes.
import type { OwnedSession } from "../sessions/owner.ts";
import type { Scope } from "../store/recall.ts";

/** How a call of a tool goes. */
export interface RecallContext {
  readonly session: OwnedSession;
  readonly callId: string;
  /** Where its relative paths begin. Absent: not known. */
  readonly workspace?: string | undefined;
  /** The conversations that it may read. */
  readonly scope: Scope;
  /** That the session may still read of what was granted. Absent: any number. */
  readonly tokensLeft?: number | undefined;
  /** Ends it. Absent: the host cannot. */
  readonly signal?: AbortSignal | undefined;
  /** How long a search may take, ms. Absent: 5,000. */
  readonly searchMs?: number | undefined;
  /** Of the session's model, in tokens; hosts cut longer results by it. Absent: not known. */
  readonly contextWindow?: number | undefined;
}

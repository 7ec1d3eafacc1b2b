// What is asked of whatever finds things that were said in sessions.
import type { SessionSummary } from "../list-sessions.ts";
import type { SearchQuery } from "./query.ts";

export interface SessionSearchRequest {
  query: SearchQuery;
  /** Only in this session. Absent: in all. */
  session?: SessionSummary | undefined;
  /** Most entries that are found. */
  limit: number;
  /** True: also in what was taken back, and so stands on no branch that goes on. */
  everyBranch: boolean;
  signal: AbortSignal;
  /** Told how far it is; cheap enough for each step. */
  says(text: string): void;
}

export interface FoundEntry {
  /** Key of its session. */
  session: string;
  /** What people call the session. */
  label?: string;
  entry: string;
  timestamp: string;
  /** One line around the place. */
  text: string;
  /** Absent: it is in the conversation as it is now. */
  isTakenBack?: true;
}

export interface SessionSearchAnswer {
  /** Newest first; of the same millisecond in no order, but for those of one session. */
  found: FoundEntry[];
  /** Sessions that could not be read, or not whole. */
  unread: number;
  /** Which they are, and why. Absent: the doctor says it. */
  whyUnread?: { session: string; why: string }[];
  /** So many of all messages, the newest, were looked at. Absent: as many as were needed. */
  partly?: { looked: number; of: number };
  /** True: texts are looked for message by message, as the database has no index for them. */
  hasNoIndex?: true;
}

export interface SessionSearch {
  /** Throws REQUEST_INVALID for what cannot be looked for. */
  search(request: SessionSearchRequest): Promise<SessionSearchAnswer>;
}

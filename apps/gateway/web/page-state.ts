// Everything the page shows, as one value.

import type { Approval } from "../src/approvals/approval.ts";
import type { ContextView } from "../src/reports/context-view.ts";
import { shortName } from "../src/sessions/keys.ts";
import type { WaitingView } from "../src/waiting/waiting-message.ts";
import type { Health, SessionRow, SessionsAsked, SessionView } from "./api.ts";
import type { Joined, JoinedTurn } from "./joined-turn.ts";
import type { LiveTurn, Problem } from "./live-turn.ts";
import type { PlacedAnswer } from "./placed-answers.ts";

export interface PageState {
  connection: "connecting" | "ok" | "away";
  /** Null until the gateway answered for the first time. */
  health: Health | null;
  /** Newest first, and each with those that it started below it. */
  sessions: readonly SessionRow[];
  /** Which of them the list is to hold. */
  sessionsAsked: SessionsAsked;
  /** There are sessions that the list does not hold. */
  hasMoreSessions: boolean;
  /** What clients sent beside conversations, and the list leaves out. */
  sideRequests: number;
  /** The session shown: canonical key, or the short name of one that is not stored yet. */
  key: string;
  /** Its calls are shown in place of the chat. */
  isInspecting: boolean;
  /** Null: nothing was said in it yet, or it is not read yet. */
  session: SessionView | null;
  isLoading: boolean;
  /** What the model saw; null when it was not called yet. */
  context: ContextView | null;
  /** Turns of this page, per session, until the stored history holds them. */
  turns: Readonly<Record<string, LiveTurn>>;
  /** Turns that others began, as far as they are told. */
  joined: Joined;
  /** Why the last turn of a session has no reply, when its history does not tell. */
  problems: Readonly<Record<string, Problem>>;
  /** What the host told in the last turn of a session, until the next one begins. */
  told: Readonly<Record<string, readonly string[]>>;
  /** What turns wait for, oldest first. */
  approvals: readonly Approval[];
  /** Whether this browser may answer. */
  mayAnswer: boolean;
  /** Messages that wait for their turn in the session shown. */
  waiting: readonly WaitingView[];
  /** Answers of commands, per session, in the order in which they were given. */
  answers: Readonly<Record<string, readonly PlacedAnswer[]>>;
  /** What is in the box. */
  draft: string;
  /** News about the gateway. */
  notice: string | null;
}

/** In the list, and added each time a person asks for more. */
export const SESSIONS_AT_A_TIME = 200;

export function initialState(key: string): PageState {
  return {
    connection: "connecting",
    health: null,
    sessions: [],
    sessionsAsked: { limit: SESSIONS_AT_A_TIME, find: "", all: false },
    hasMoreSessions: false,
    sideRequests: 0,
    key,
    isInspecting: false,
    session: null,
    isLoading: true,
    context: null,
    turns: {},
    joined: {},
    problems: {},
    told: {},
    approvals: [],
    mayAnswer: false,
    waiting: [],
    answers: {},
    draft: "",
    notice: null,
  };
}

/** What is told of the turn under way in the session shown, whoever began it; null = none is. */
export function joinedShown({ joined, key }: PageState): JoinedTurn | null {
  // A session that is not stored yet is shown under its short name.
  const told = Object.keys(joined).find((other) => isSameSession(other, key));
  return told === undefined ? null : (joined[told] ?? null);
}

/** The turn under way in the session shown: this page's own, or the one it joined. */
export const turnShown = (state: PageState): LiveTurn | null =>
  state.turns[state.key] ?? joinedShown(state)?.turn ?? null;

/** The rows of the list: a session that is not stored yet comes first. */
export function listedSessions({
  sessions,
  key,
}: Pick<PageState, "sessions" | "key">): readonly SessionRow[] {
  return sessions.some((row) => isSameSession(row.key, key))
    ? sessions
    : [{ key, updatedAt: "", busy: false, demo: false, depth: 0, child: null }, ...sessions];
}

/** What people call it, or what its client's conversation is about, else its short name. */
export function nameOf(key: string, sessions: readonly SessionRow[]): string {
  const row = sessions.find((each) => isSameSession(each.key, key));
  return row?.label ?? (row?.client === undefined ? shortName(key) : titleOf(row));
}

/** True: there is no session that the list does not hold. */
export const isListWhole = ({
  hasMoreSessions,
  sideRequests,
}: Pick<PageState, "hasMoreSessions" | "sideRequests">): boolean =>
  !hasMoreSessions && sideRequests === 0;

/** What the list calls it: names that people gave, then what it is about. */
export function titleOf({
  key,
  label,
  demo,
  child,
  client,
  title,
  firstWords,
}: SessionRow): string {
  if (demo) return "Demo session";
  const about = client === undefined ? undefined : (title ?? firstWords);
  return label ?? child?.label ?? (child?.task || undefined) ?? about ?? shortName(key);
}

/** True also for a canonical key and its short name. */
export function isSameSession(first: string, second: string): boolean {
  return shortName(first) === shortName(second);
}

/** The first free "chat-1", "chat-2", … */
export function freeSessionName(taken: readonly string[]): string {
  for (let number = 1; ; number++) if (!taken.includes(`chat-${number}`)) return `chat-${number}`;
}

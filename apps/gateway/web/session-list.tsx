// The list of sessions and the way to a new one.

import { formatAge } from "../src/conversation/format.ts";
import { shortName } from "../src/sessions/keys.ts";
import type { SessionRow, SessionsAsked } from "./api.ts";
import { isSameSession, listedSessions, type PageState, SESSIONS_AT_A_TIME } from "./page-state.ts";

export interface SessionListProps {
  state: PageState;
  /** On a narrow page the list is shown over the rest. */
  isOpen: boolean;
  onOpen(key: string): void;
  onNew(): void;
  /** Lists more sessions, or those only that have `find` in their names. */
  onList(asked: Partial<SessionsAsked>): void;
}

/** How a child ended that did not complete; "" = there is nothing to say. */
const howOf = (child: SessionRow["child"]): string =>
  child === null || child.state === "completed" ? "" : child.state;

export function SessionList({ state, isOpen, onOpen, onNew, onList }: SessionListProps) {
  const { hasMoreSessions, sessionsAsked } = state;
  const now = Date.now();
  return (
    <nav class="sessions" id="sessions" aria-label="Sessions" data-open={isOpen}>
      <button type="button" class="new-session" onClick={onNew}>
        <span aria-hidden="true">+</span> New session
      </button>
      {(hasMoreSessions || sessionsAsked.find !== "") && (
        <input
          type="search"
          class="find-session"
          aria-label="Find a session"
          placeholder="Find a session"
          value={sessionsAsked.find}
          onInput={(event) => onList({ find: event.currentTarget.value })}
        />
      )}
      <ul>
        {listedSessions(state).map(({ key, label, updatedAt, busy, demo, depth, child }) => (
          <li key={key} class={depth > 0 ? "child" : undefined} style={{ "--depth": depth }}>
            <button
              type="button"
              aria-current={isSameSession(key, state.key) ? "page" : undefined}
              onClick={() => onOpen(key)}
            >
              <span class="session-name">
                {demo ? "Demo session" : (label ?? child?.label ?? child?.task ?? shortName(key))}
              </span>
              <span class="soft">
                {busy
                  ? "replying…"
                  : howOf(child) || (updatedAt === "" ? "new" : formatAge(updatedAt, now))}
              </span>
            </button>
          </li>
        ))}
      </ul>
      {hasMoreSessions && (
        <button
          type="button"
          class="more-sessions"
          onClick={() => onList({ limit: sessionsAsked.limit + SESSIONS_AT_A_TIME })}
        >
          Show more sessions
        </button>
      )}
    </nav>
  );
}

// The list of sessions and the way to a new one.

import { formatAge } from "../src/conversation/format.ts";
import { shortName } from "../src/sessions/keys.ts";
import { counted } from "../src/text/number.ts";
import type { SessionRow, SessionsAsked } from "./api.ts";
import {
  isSameSession,
  listedSessions,
  type PageState,
  SESSIONS_AT_A_TIME,
  titleOf,
} from "./page-state.ts";

export interface SessionListProps {
  state: PageState;
  /** On a narrow page the list is shown over the rest. */
  isOpen: boolean;
  onOpen(key: string): void;
  onNew(): void;
  /** Lists more sessions, or those only that have `find` in their names or first words. */
  onList(asked: Partial<SessionsAsked>): void;
}

/** How a child ended that did not complete; "" = there is nothing to say. */
const howOf = (child: SessionRow["child"]): string =>
  child === null || child.state === "completed" ? "" : child.state;

/** All that the row has no room for. */
const tipOf = (row: SessionRow): string =>
  [shortName(row.key), titleOf(row), row.firstWords]
    .filter((text, index, all) => text !== undefined && all.indexOf(text) === index)
    .join("\n");

function stateOf({ busy, child, client, sideRequest, updatedAt }: SessionRow, now: number): string {
  const age = updatedAt === "" ? "new" : formatAge(updatedAt, now);
  const state = busy ? "replying…" : howOf(child) || age;
  const who = sideRequest === undefined ? client : `${client}, side request`;
  return who === undefined ? state : `${who} · ${state}`;
}

export function SessionList({ state, isOpen, onOpen, onNew, onList }: SessionListProps) {
  const { hasMoreSessions, sessionsAsked, sideRequests } = state;
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
        {listedSessions(state).map((row) => (
          <li
            key={row.key}
            class={row.depth > 0 ? "child" : undefined}
            style={{ "--depth": row.depth }}
          >
            <button
              type="button"
              class="session-row"
              aria-current={isSameSession(row.key, state.key) ? "page" : undefined}
              title={tipOf(row)}
              onClick={() => onOpen(row.key)}
            >
              <span class="session-name">{titleOf(row)}</span>
              <span class="soft session-state">{stateOf(row, now)}</span>
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
      {(sideRequests > 0 || sessionsAsked.all) && (
        <button
          type="button"
          class="more-sessions"
          onClick={() => onList({ all: !sessionsAsked.all })}
        >
          {sessionsAsked.all
            ? "Hide side requests"
            : `Show ${counted(sideRequests, "side request")}`}
        </button>
      )}
    </nav>
  );
}

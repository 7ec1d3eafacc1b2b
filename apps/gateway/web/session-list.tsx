// The list of sessions and the way to a new one.
import { shortName } from "../src/sessions/keys.ts";
import type { SessionRow } from "./api.ts";
import { formatAge } from "./format.ts";
import { isSameSession, listedSessions, type PageState } from "./page-state.ts";

export interface SessionListProps {
  state: PageState;
  /** On a narrow page the list is shown over the rest. */
  isOpen: boolean;
  onOpen(key: string): void;
  onNew(): void;
}

/** How a child ended that did not complete; "" = there is nothing to say. */
const howOf = (child: SessionRow["child"]): string =>
  child === null || child.state === "completed" ? "" : child.state;

export function SessionList({ state, isOpen, onOpen, onNew }: SessionListProps) {
  const now = Date.now();
  return (
    <nav class="sessions" id="sessions" aria-label="Sessions" data-open={isOpen}>
      <button type="button" class="new-session" onClick={onNew}>
        <span aria-hidden="true">+</span> New session
      </button>
      <ul>
        {listedSessions(state).map(({ key, updatedAt, busy, demo, depth, child }) => (
          <li key={key} class={depth > 0 ? "child" : undefined} style={{ "--depth": depth }}>
            <button
              type="button"
              aria-current={isSameSession(key, state.key) ? "page" : undefined}
              onClick={() => onOpen(key)}
            >
              <span class="session-name">
                {demo ? "Demo session" : (child?.label ?? child?.task ?? shortName(key))}
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
    </nav>
  );
}

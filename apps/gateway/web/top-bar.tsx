// The line at the top of the page.
import { describeGateway } from "./describe-gateway.ts";
import { nameOf, type PageState } from "./page-state.ts";

export type Pane = "chat" | "context" | "calls";

export interface TopBarProps {
  state: PageState;
  pane: Pane;
  isMenuOpen: boolean;
  onPane(pane: Pane): void;
  onMenu(): void;
}

const PANES: readonly (readonly [Pane, string])[] = [
  ["chat", "Chat"],
  ["context", "What it saw"],
  ["calls", "Calls"],
];

export function TopBar({
  state: { health, connection, key, sessions },
  pane,
  isMenuOpen,
  onPane,
  onMenu,
}: TopBarProps) {
  const { mood, text, turns } = describeGateway(connection, health);
  return (
    <header class="top">
      <h1>
        <Mark /> Clew
      </h1>
      <button
        type="button"
        class="menu"
        aria-expanded={isMenuOpen}
        aria-controls="sessions"
        onClick={onMenu}
      >
        <span class="hidden">Session: </span>
        <span class="menu-name">{nameOf(key, sessions)}</span> <span aria-hidden="true">▾</span>
      </button>
      <fieldset class="panes">
        <legend class="hidden">View</legend>
        {PANES.map(([name, label]) => (
          <button
            key={name}
            type="button"
            data-pane={name}
            aria-pressed={pane === name}
            onClick={() => onPane(name)}
          >
            {label}
          </button>
        ))}
      </fieldset>
      <p class="status" data-connection={connection} data-mood={mood}>
        <span class="dot" aria-hidden="true" />
        <span class="hidden">Gateway </span>
        <span class="status-text">{text}</span>
        {turns !== undefined && <span class="status-turns">{turns}</span>}
      </p>
    </header>
  );
}

/** A ball of thread. */
function Mark() {
  return (
    <svg class="logo" viewBox="0 0 24 24" aria-hidden="true">
      <circle cx="12" cy="12" r="9" />
      <path d="M4.6 9.2c4.5-1.6 10-1 14.8 1.8M3.6 13.4c5-2.4 11-1.9 16.2 1.6M8 4.2c4.6 2.4 7.6 7 8 15.4" />
    </svg>
  );
}

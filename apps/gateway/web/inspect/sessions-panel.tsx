// The sessions that this one started or was started by, as a tree.
import { shortName } from "../../src/sessions/keys.ts";
import type { SessionRow } from "../api.ts";
import { isSameSession } from "../page-state.ts";
import { familyOf } from "./family.ts";

export interface SessionsPanelProps {
  sessions: readonly SessionRow[];
  session: string;
  onOpen(key: string): void;
}

export function SessionsPanel({ sessions, session, onOpen }: SessionsPanelProps) {
  const family = familyOf(sessions, session);
  if (family.length < 2) return <p class="soft">This session started no other one.</p>;
  return (
    <ul class="tree">
      {family.map(({ key, label, depth, child, busy }) => (
        <li key={key} style={{ "--depth": depth }}>
          <button
            type="button"
            aria-current={isSameSession(key, session) ? "page" : undefined}
            onClick={() => onOpen(key)}
          >
            {label ?? child?.label ?? child?.task ?? shortName(key)}
          </button>{" "}
          <span class="soft">{busy ? "replying…" : (child?.state ?? "")}</span>
        </li>
      ))}
    </ul>
  );
}

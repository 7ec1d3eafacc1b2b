// What belongs to the call or the session as a whole, one thing at a time.
import { useId } from "preact/hooks";
import type { CallRow, CallView, WhatIf } from "../../src/inspect/shapes.ts";
import type { Api, SessionRow } from "../api.ts";
import { ActionPanel } from "./action-panel.tsx";
import { EnginePanel } from "./engine-panel.tsx";
import type { InspectApi } from "./inspect-api.ts";
import { runCommand } from "./run-command.ts";
import { SessionsPanel } from "./sessions-panel.tsx";
import { WhatIfPanel } from "./what-if-panel.tsx";
import { WhyPanel } from "./why-panel.tsx";

export type DockTab = "why" | "what-if" | "compaction" | "engine" | "sessions";

export interface DockProps {
  tab: DockTab;
  onTab(tab: DockTab): void;
  view: CallView;
  rows: readonly CallRow[];
  session: string;
  api: InspectApi;
  chat: Pick<Api, "send">;
  sessions: readonly SessionRow[];
  engines: readonly string[];
  onPlayed(whatIf: WhatIf | null): void;
  onOpenSession(key: string): void;
  onDone(): void;
}

const TABS: readonly (readonly [DockTab, string])[] = [
  ["why", "Why and cost"],
  ["what-if", "What if"],
  ["compaction", "Compaction"],
  ["engine", "Engine"],
  ["sessions", "Sessions below"],
];

export function Dock(props: DockProps) {
  const { tab, onTab } = props;
  const id = useId();
  return (
    <div class="dock">
      <div class="dock-tabs" role="tablist" aria-label="About the call and the session">
        {TABS.map(([name, label]) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`${id}-${name}`}
            aria-selected={tab === name}
            aria-controls={`${id}-panel`}
            onClick={() => onTab(name)}
          >
            {label}
          </button>
        ))}
      </div>
      <div
        class="dock-panel"
        role="tabpanel"
        id={`${id}-panel`}
        aria-labelledby={`${id}-${tab}`}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
        tabIndex={0}
      >
        <Panel {...props} />
      </div>
    </div>
  );
}

function Panel(props: DockProps) {
  const { tab, view, rows, session, api, chat, sessions, engines } = props;
  const { onPlayed, onOpenSession, onDone } = props;
  switch (tab) {
    case "why":
      return <WhyPanel view={view} rows={rows} />;
    case "what-if":
      return <WhatIfPanel {...{ api, session, engines, onPlayed }} key={session} />;
    case "compaction": {
      const button = (label: string, line: string) => ({
        ...{ label, title: line },
        run: () => runCommand(chat, session, line),
      });
      return (
        <ActionPanel
          label="Compaction"
          hint="Replaces older history by a summary. A preview changes nothing; what was compacted can be undone, byte for byte."
          buttons={[
            button("Preview", "/compact --dry-run"),
            button("Compact now", "/compact"),
            button("Undo the last one", "/compact undo"),
          ]}
          onDone={onDone}
        />
      );
    }
    case "engine":
      return <EnginePanel api={api} session={session} version={`${rows.length}`} onDone={onDone} />;
    case "sessions":
      return <SessionsPanel sessions={sessions} session={session} onOpen={onOpenSession} />;
  }
}

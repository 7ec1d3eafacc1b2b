// What belongs to the call or the session as a whole, one thing at a time.
import { useId } from "preact/hooks";
import type { Usage } from "../../src/costs/usage.ts";
import type { ShadowView } from "../../src/gateway/session-views.ts";
import type { CallRow, CallView, WhatIf } from "../../src/inspect/shapes.ts";
import type { Api, SessionRow } from "../api.ts";
import { ActionPanel } from "./action-panel.tsx";
import { EnginePanel } from "./engine-panel.tsx";
import type { InspectApi } from "./inspect-api.ts";
import type { DockTab } from "./place.ts";
import { runCommand } from "./run-command.ts";
import { SessionsPanel } from "./sessions-panel.tsx";
import { ShadowPanel } from "./shadow-panel.tsx";
import { WhatIfPanel } from "./what-if-panel.tsx";
import { WhyPanel } from "./why-panel.tsx";

export interface DockProps {
  tab: DockTab;
  onTab(tab: DockTab): void;
  view: CallView;
  rows: readonly CallRow[];
  /** Null: not read yet. */
  usage: Usage | null;
  session: string;
  api: InspectApi;
  chat: Pick<Api, "send">;
  sessions: readonly SessionRow[];
  engines: readonly string[];
  whatIf: WhatIf | null;
  shadow: ShadowView | null;
  onPlayed(whatIf: WhatIf | null): void;
  onShadow(shadow: ShadowView | null): void;
  onOpenSession(key: string): void;
  onDone(): void;
}

const TABS: readonly (readonly [DockTab, string])[] = [
  ["why", "Why and cost"],
  ["what-if", "What if"],
  ["shadow", "Shadow engine"],
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
  const { tab, view, rows, usage, session, api, chat, sessions, engines } = props;
  const { whatIf, shadow, onPlayed, onShadow, onOpenSession, onDone } = props;
  switch (tab) {
    case "why":
      return <WhyPanel view={view} rows={rows} usage={usage} />;
    case "what-if":
      return <WhatIfPanel {...{ api, session, engines, whatIf, onPlayed }} key={session} />;
    case "shadow":
      return <ShadowPanel {...{ api, session, rows, shadow, onShadow }} row={view.row} />;
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

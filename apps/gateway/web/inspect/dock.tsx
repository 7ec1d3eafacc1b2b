// What belongs to the call or the session as a whole, one thing at a time.
import { memo } from "preact/compat";
import type { Usage } from "../../src/costs/usage.ts";
import type { ShadowView } from "../../src/gateway/session-views.ts";
import type { CallPage, CallRow } from "../../src/inspect/shapes/calls.ts";
import type { CallView, Proof } from "../../src/inspect/shapes/one-call.ts";
import type { WhatIf } from "../../src/lab/shapes.ts";
import type { Api, SessionRow } from "../api.ts";
import { CompactionPanel } from "./compaction-panel.tsx";
import { EnginePanel } from "./engine-panel.tsx";
import type { InspectApi } from "./inspect-api.ts";
import type { DockTab } from "./place.ts";
import { SessionsPanel } from "./sessions-panel.tsx";
import { ShadowPanel } from "./shadow-panel.tsx";
import { WhatIfPanel } from "./what-if-panel.tsx";
import { WhyPanel } from "./why-panel.tsx";

export interface DockProps {
  tab: DockTab;
  onTab(tab: DockTab): void;
  isUnfolded: boolean;
  onFold(isUnfolded: boolean): void;
  view: CallView;
  /** Null: not known yet. */
  proof: Proof | null;
  rows: readonly CallRow[];
  /** Null: not read yet. */
  usage: Usage | null;
  sums: CallPage["sums"];
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

/** Id of the element by which a tab is chosen. */
export const idOfTab = (tab: DockTab): string => `dock-${tab}`;

/** Drawn anew only for something else to show: a cost may be of ten thousands of calls. */
export const Dock = memo(function Dock(props: DockProps) {
  const { tab, onTab, isUnfolded, onFold } = props;
  return (
    <div class="dock" data-folded={!isUnfolded}>
      <div class="dock-head">
        <div class="dock-tabs" role="tablist" aria-label="About the call and the session">
          {TABS.map(([name, label]) => (
            <button
              key={name}
              type="button"
              role="tab"
              id={idOfTab(name)}
              aria-selected={tab === name && isUnfolded}
              aria-controls={isUnfolded ? "dock-panel" : undefined}
              onClick={() => onTab(name)}
            >
              {label}
            </button>
          ))}
        </div>
        <button
          type="button"
          class="fold"
          aria-expanded={isUnfolded}
          title={isUnfolded ? "Fold this (b)" : "Unfold this (b)"}
          onClick={() => onFold(!isUnfolded)}
        >
          <span aria-hidden="true">{isUnfolded ? "▾" : "▴"}</span> {isUnfolded ? "Fold" : "Unfold"}
        </button>
      </div>
      {isUnfolded && (
        <div
          class="dock-panel"
          role="tabpanel"
          id="dock-panel"
          aria-labelledby={idOfTab(tab)}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
          tabIndex={0}
        >
          <Panel {...props} />
        </div>
      )}
    </div>
  );
});

function Panel(props: DockProps) {
  const { tab, view, proof, rows, usage, sums, session, api, chat, sessions, engines } = props;
  const { whatIf, shadow, onPlayed, onShadow, onOpenSession, onDone } = props;
  switch (tab) {
    case "why":
      return <WhyPanel {...{ session, view, proof, rows, usage, sums }} />;
    case "what-if":
      return <WhatIfPanel {...{ api, session, engines, whatIf, onPlayed }} key={session} />;
    case "shadow":
      return <ShadowPanel {...{ api, session, rows, shadow, onShadow }} row={view.row} />;
    case "compaction":
      return <CompactionPanel {...{ chat, session, onDone }} key={session} />;
    case "engine":
      return <EnginePanel {...{ api, session, onDone }} version={`${rows.length}`} key={session} />;
    case "sessions":
      return <SessionsPanel {...{ api, sessions, session }} onOpen={onOpenSession} />;
  }
}

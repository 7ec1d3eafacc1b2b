// What the model saw in its last call, with the engine, the budget and every item.
import { memo } from "preact/compat";
import { formatCount, formatNumberOf } from "../src/conversation/format.ts";
import type { ContextView, ContextViewItem } from "../src/reports/context-view.ts";
import type { ContextPart } from "./api.ts";
import { asCounted, indexOfPrompt, type SegmentKind } from "./budget.ts";
import { BudgetBar } from "./budget-bar.tsx";
import { ContextItem } from "./context-item.tsx";
import { describeEngine } from "./describe-context.ts";
import { LiveCallView } from "./inspect/live-call.tsx";
import type { JoinedTurn } from "./joined-turn.ts";
import { TurnFacts } from "./turn-facts.tsx";

export interface ContextPanelProps {
  view: ContextView | null;
  /** Nobody knows yet whether there is anything. */
  isReading: boolean;
  /** A turn is running: what is shown is of the call before it. */
  isOlder: boolean;
  /** The turn under way; null = there is none. */
  live: JoinedTurn | null;
  readItem(part: ContextPart, index: number): Promise<string>;
}

interface Contents {
  view: ContextView;
  readItem: ContextPanelProps["readItem"];
}

export function ContextPanel(props: ContextPanelProps) {
  const { view, isReading, isOlder, live, readItem } = props;
  return (
    <section class="context" aria-label="What the model saw" data-older={isOlder}>
      <h2>What the model saw</h2>
      {live?.call != null && <LiveCallView call={live.call} isAnswered={live.isAnswered} />}
      {view === null && isReading ? (
        <p class="nothing">Reading what it saw…</p>
      ) : view === null ? (
        <p class="nothing">
          Nothing yet. After the first reply, this lists every item that the model was given, with
          its source and size.
        </p>
      ) : (
        <ContextContents view={view} readItem={readItem} />
      )}
    </section>
  );
}

/** Remembered: a long list is not gone through again for every piece of a reply that arrives. */
const ContextContents = memo(function ContextContents({ view, readItem }: Contents) {
  const { engine, model, messages, system, tools } = asCounted(view);
  const promptIndex = indexOfPrompt(messages);
  const largest = Math.max(...[...system, ...tools, ...messages].map(({ tokens }) => tokens), 1);
  const group = (
    part: ContextPart,
    title: string,
    items: readonly ContextViewItem[],
    from = 0,
    kind: SegmentKind = "system",
  ) =>
    items.length > 0 && (
      <Group
        title={title}
        items={items}
        kind={kind}
        largest={largest}
        // Another call, other items: opened ones close.
        key={`${title} ${view.turnId} ${view.call.index}`}
        readWhole={(index) => readItem(part, from + index)}
      />
    );
  return (
    <>
      <p class="engine" data-degraded={engine.degraded !== null}>
        <span>
          Engine <strong>{engine.ran}</strong>, {describeEngine(view)}
        </span>
        <span class="soft">
          Model <strong>{model.resolved}</strong>
        </span>
      </p>
      <BudgetBar view={view} onPick={showGroup} />
      <TurnFacts view={view} />
      {group("system", "System prompt", system)}
      {group("tools", "Tools", tools)}
      {group("messages", "History", messages.slice(0, promptIndex), 0, "history")}
      {group("messages", "Prompt", messages.slice(promptIndex), promptIndex, "prompt")}
    </>
  );
});

/** Brings a part of the list into sight. */
function showGroup(kind: SegmentKind): void {
  document.querySelector(`.group[data-kind="${kind}"]`)?.scrollIntoView({ block: "start" });
}

interface GroupProps {
  title: string;
  items: readonly ContextViewItem[];
  kind: SegmentKind;
  largest: number;
  readWhole(index: number): Promise<string>;
}

function Group({ title, items, kind, largest, readWhole }: GroupProps) {
  const tokens = items.reduce((sum, item) => sum + item.tokens, 0);
  return (
    <section class="group" data-kind={kind}>
      <h3>
        {title} <span class="soft">{formatNumberOf(items.length, "item")}</span>
        <span class="group-tokens">{formatCount(tokens)}</span>
      </h3>
      <ol>
        {items.map((item, index) => (
          <ContextItem
            key={index}
            item={item}
            kind={kind}
            largest={largest}
            readWhole={() => readWhole(index)}
          />
        ))}
      </ol>
    </section>
  );
}

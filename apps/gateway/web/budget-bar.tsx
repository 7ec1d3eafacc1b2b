// The model's window as a bar, and what was sent as a second one under it, magnified.

import { formatCount, formatShare } from "../src/conversation/format.ts";
import type { ContextView } from "../src/reports/context-view.ts";
import { type BudgetBarPlan, planBudgetBar, type Segment, type SegmentKind } from "./budget.ts";

export interface BudgetBarProps {
  view: ContextView;
  /** A part of what was sent was chosen. */
  onPick(kind: SegmentKind): void;
}

export function BudgetBar({ view, onPick }: BudgetBarProps) {
  const plan = planBudgetBar(view);
  const { window, total, over, sent, rest, scale } = plan;
  return (
    <figure class="budget" aria-label="Token budget of the call">
      <figcaption>
        <span>
          <strong class="total">{formatCount(total)}</strong> tokens sent
          {view.size.source === "counted" ? ", as the provider counted" : ", estimated"}
        </span>
        {window !== null && (
          <span class="soft">
            {formatShare(total, window)} of a window of {formatCount(window)}
          </span>
        )}
      </figcaption>
      {window !== null && <Bar name="window" segments={[...sent, ...rest]} whole={scale} />}
      {window !== null && <Magnifier plan={plan} />}
      <Bar name="sent" segments={sent} whole={total} />
      {view.size.water !== null && !view.engine.ownsCompaction && (
        <p class="soft">
          Compacted above {formatCount(view.size.water.high)} tokens of messages, down to{" "}
          {formatCount(view.size.water.low)}
        </p>
      )}
      {over > 0 && (
        <p class="over">{formatCount(over)} more than fit in the window beside the reserve</p>
      )}
      <dl class="legend">
        {sent.map(({ kind, label, tokens }) => (
          <div key={kind}>
            <dt>
              <button
                type="button"
                disabled={tokens === 0 || kind === "program"}
                title="Show in the list"
                onClick={() => onPick(kind)}
              >
                <span class="swatch" data-kind={kind} aria-hidden="true" />
                {label}
              </button>
            </dt>
            <dd>{formatCount(tokens)}</dd>
          </div>
        ))}
        {rest.map(({ kind, label, tokens }) => (
          <div key={kind}>
            <dt>
              <span class="swatch" data-kind={kind} aria-hidden="true" />
              {label}
            </dt>
            <dd>{formatCount(tokens)}</dd>
          </div>
        ))}
      </dl>
    </figure>
  );
}

/** Told by the legend too, so that it is decoration for those who cannot see it. */
function Bar({
  name,
  segments,
  whole,
}: {
  name: string;
  segments: readonly Segment[];
  whole: number;
}) {
  return (
    <div class={`bar ${name}`} aria-hidden="true">
      {segments
        .filter(({ tokens }) => tokens > 0)
        .map(({ kind, label, tokens }) => (
          <span
            key={kind}
            data-kind={kind}
            title={`${label}: ${formatCount(tokens)}`}
            style={{ flexGrow: whole > 0 ? (tokens / whole) * 1000 : 0 }}
          />
        ))}
    </div>
  );
}

/** The sent part of the upper bar widens to the whole lower one. */
function Magnifier({ plan: { total, scale } }: { plan: BudgetBarPlan }) {
  const share = scale > 0 ? Math.max(0.6, (total / scale) * 100) : 0;
  return (
    <svg class="magnifier" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
      <polygon points={`0,0 ${share},0 100,10 0,10`} />
    </svg>
  );
}

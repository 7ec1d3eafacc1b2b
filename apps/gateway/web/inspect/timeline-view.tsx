// The calls of a session as a plot, which is a slider for the keyboard.
import { memo } from "preact/compat";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { formatCount, formatDollars } from "../../src/conversation/format.ts";
import { describeMissing } from "../../src/inspect/describe-missing.ts";
import { describeLetGo } from "../../src/inspect/let-go.ts";
import type { CallRow, MissingTurn } from "../../src/inspect/shapes/calls.ts";
import { describeUnreadable, nameMissing } from "./absence.ts";
import { MARKS } from "./marks.ts";
import { createPlot, type Plot, type PlotGiven, type PlotHands } from "./plot.ts";
import { isBudgetInSight } from "./plot-places.ts";
import { BANDS, type Band, type Metric } from "./sources.ts";
import { describePlace, describePointed, planTimeline } from "./timeline.ts";

export interface TimelineViewProps {
  rows: readonly CallRow[];
  letGoTurns: number;
  unreadableTurns: readonly number[];
  missingTurns: readonly MissingTurn[];
  metric: Metric;
  shown: number | null;
  compared: number | null;
  over: PlotGiven["over"];
  /** Zooming is done by keys, too. */
  plotRef: { current: Plot | null };
  onPick(place: number, isShift: boolean): void;
}

/** Drawn anew only for something else to show: there may be ten thousands of calls. */
export const TimelineView = memo(function TimelineView(props: TimelineViewProps) {
  const { rows, letGoTurns, unreadableTurns, missingTurns, metric, shown, compared } = props;
  const { over, plotRef, onPick } = props;
  const letGo = describeLetGo(letGoTurns);
  const unreadable = describeUnreadable(unreadableTurns);
  const missing = nameMissing(missingTurns);
  const element = useRef<HTMLDivElement>(null);
  const plan = useMemo(() => planTimeline(rows, metric), [rows, metric]);
  const given: PlotGiven = { plan, rows, metric, shown, compared, over };
  const latest = useRef({ given, onPick });
  latest.current = { given, onPick };
  const isEmpty = rows.length === 0;
  const [pointed, setPointed] = useState<Parameters<PlotHands["onPoint"]>[0]>(null);
  const pointedRow = rows[pointed?.place ?? -1];

  useEffect(() => {
    const place = element.current;
    if (place === null || isEmpty) return;
    const draw = () => {
      plotRef.current?.destroy();
      plotRef.current = createPlot(place, latest.current.given, {
        onPick: (...picked) => latest.current.onPick(...picked),
        onPoint: (next) => setPointed((now) => (now?.place === next?.place ? now : next)),
      });
    };
    draw();
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    scheme.addEventListener("change", draw);
    const observer = new ResizeObserver(() =>
      plotRef.current?.resize(Math.max(50, place.clientWidth), Math.max(50, place.clientHeight)),
    );
    observer.observe(place);
    return () => {
      scheme.removeEventListener("change", draw);
      observer.disconnect();
      plotRef.current?.destroy();
      plotRef.current = null;
    };
  }, [isEmpty, metric]);
  useEffect(() => plotRef.current?.draw(given), [plan, shown, compared, over]);

  const happening = useMemo(() => new Set(plan.marks.map(({ mark }) => mark)), [plan]);
  return (
    <div class="timeline">
      <div
        class="plot"
        ref={element}
        role="slider"
        tabIndex={0}
        aria-label="Calls"
        aria-valuemin={1}
        aria-valuemax={Math.max(1, rows.length)}
        aria-valuenow={(shown ?? 0) + 1}
        aria-valuetext={describePlace(rows[shown ?? -1], metric)}
      />
      {pointed !== null && pointedRow !== undefined && (
        <PointedCall
          row={pointedRow}
          left={pointed.left}
          isRight={pointed.left > (element.current?.clientWidth ?? 0) / 2}
        />
      )}
      <ul class="plot-legend" aria-label="Legend">
        {BANDS[metric].map((band) => (
          <li key={band.key}>
            <span class="swatch" style={{ background: `var(${band.color})` }} aria-hidden="true" />{" "}
            {band.label} <b>{amountOf(rows[shown ?? -1], band, metric)}</b>
          </li>
        ))}
        {metric !== "cost" && (
          <li>┄ Budget{isBudgetInSight({ plan, over }) ? "" : ", far above what was sent"}</li>
        )}
        {over !== null && <li>━ {over.name}</li>}
        {letGo !== null && <li>Before these, {letGo}</li>}
        {unreadable !== null && <li data-bad>{unreadable}</li>}
        {missing !== null && (
          <li data-bad>
            <details>
              <summary>{missing}</summary>
              <ul>
                {describeMissing(missingTurns).map((each) => (
                  <li key={each}>{each}.</li>
                ))}
              </ul>
            </details>
          </li>
        )}
        {[...happening].map((mark) => (
          <li key={mark} data-bad={MARKS[mark].isBad}>
            {MARKS[mark].glyph} {MARKS[mark].label}
          </li>
        ))}
      </ul>
    </div>
  );
});

interface PointedCallProps {
  row: CallRow;
  left: number;
  /** There is more room on the left of it. */
  isRight: boolean;
}

/** What the pointer is over; the slider's own text is for those who have none. */
function PointedCall({ row, left, isRight }: PointedCallProps) {
  const [name, ...lines] = describePointed(row);
  return (
    <div
      class="plot-tip"
      aria-hidden="true"
      data-right={isRight}
      style={{ "--at": `${Math.round(left)}px` }}
    >
      <strong>{name}</strong>
      {lines.map((line) => (
        <div key={line}>{line}</div>
      ))}
    </div>
  );
}

/** Of the call shown, "" where it is not known. */
function amountOf(row: CallRow | undefined, band: Band, metric: Metric): string {
  const amount = row === undefined ? null : band.of(row);
  if (amount === null) return "";
  return metric === "cost" ? formatDollars(amount) : formatCount(amount);
}

// The calls of a session as a plot, which is a slider for the keyboard.
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { CallRow } from "../../src/inspect/shapes.ts";
import { formatCount, formatDollars } from "../format.ts";
import { MARKS } from "./marks.ts";
import { createPlot, type Plot, type PlotGiven } from "./plot.ts";
import { isBudgetInSight } from "./plot-places.ts";
import { BANDS, type Band, type Metric } from "./sources.ts";
import { describePlace, planTimeline } from "./timeline.ts";

export interface TimelineViewProps {
  rows: readonly CallRow[];
  metric: Metric;
  shown: number | null;
  compared: number | null;
  over: PlotGiven["over"];
  /** Zooming is done by keys, too. */
  plotRef: { current: Plot | null };
  onPick(place: number, isShift: boolean): void;
}

export function TimelineView(props: TimelineViewProps) {
  const { rows, metric, shown, compared, over, plotRef, onPick } = props;
  const element = useRef<HTMLDivElement>(null);
  const plan = useMemo(() => planTimeline(rows, metric), [rows, metric]);
  const given: PlotGiven = { plan, rows, metric, shown, compared, over };
  const latest = useRef({ given, onPick });
  latest.current = { given, onPick };
  const isEmpty = rows.length === 0;

  useEffect(() => {
    const place = element.current;
    if (place === null || isEmpty) return;
    const draw = () => {
      plotRef.current?.destroy();
      plotRef.current = createPlot(place, latest.current.given, (...picked) =>
        latest.current.onPick(...picked),
      );
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
  useEffect(() => plotRef.current?.draw(given));

  const happening = new Set(rows.flatMap(({ marks }) => marks));
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
        {[...happening].map((mark) => (
          <li key={mark} data-bad={MARKS[mark].isBad}>
            {MARKS[mark].glyph} {MARKS[mark].label}
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Of the call shown, "" where it is not known. */
function amountOf(row: CallRow | undefined, band: Band, metric: Metric): string {
  const amount = row === undefined ? null : band.of(row);
  if (amount === null) return "";
  return metric === "cost" ? formatDollars(amount) : formatCount(amount);
}

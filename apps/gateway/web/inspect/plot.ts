// Draws a plan of calls with uPlot, and says which call is pointed at.
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { formatCount, formatDollars } from "../../src/conversation/format.ts";
import type { CallRow } from "../../src/inspect/shapes/calls.ts";
import { MARKS } from "./marks.ts";
import { planColumns, planPlaces, planSigns, planTop } from "./plot-places.ts";
import type { Metric } from "./sources.ts";
import type { TimelinePlan } from "./timeline.ts";

export interface PlotGiven {
  plan: TimelinePlan;
  rows: readonly CallRow[];
  metric: Metric;
  /** Place of the call shown, and of the one it is compared with; null = there is none. */
  shown: number | null;
  compared: number | null;
  /** Another curve over the first, by place; null = there is none. */
  over: { name: string; heights: readonly (number | null)[] } | null;
}

export interface Plot {
  draw(given: PlotGiven): void;
  /** Makes `by` as many calls visible, around the one shown; 0 = all. */
  zoom(by: number): void;
  resize(width: number, height: number): void;
  destroy(): void;
}

const AXIS = 52;
/** Pixels below the curves for the marks. */
const BELOW = 22;

export interface PlotHands {
  /** A call was clicked, with Shift or without. */
  onPick(place: number, isShift: boolean): void;
  /** A call is pointed at, so many pixels from the left of the element; null = none is any more. */
  onPoint(pointed: { place: number; left: number } | null): void;
}

export function createPlot(
  element: HTMLElement,
  given: PlotGiven,
  { onPick, onPoint }: PlotHands,
): Plot {
  let now = given;
  let [top, topOf] = [0, undefined as PlotGiven | undefined];
  const topNow = () => {
    if (topOf !== now) [top, topOf] = [planTop(now), now];
    return top;
  };
  const color = (name: string) => getComputedStyle(element).getPropertyValue(name).trim();
  const plot = new uPlot(
    {
      width: Math.max(50, element.clientWidth),
      height: Math.max(50, element.clientHeight),
      legend: { show: false },
      cursor: { y: false, points: { show: false }, drag: { x: true, y: false, setScale: true } },
      padding: [10, 10, 0, 0],
      scales: {
        x: {
          time: false,
          range: (_, from, to) => planPlaces(from, Math.min(to, now.rows.length - 1)),
        },
        y: { range: () => [0, topNow()] },
      },
      axes: [
        {
          ...{ stroke: () => color("--soft"), size: BELOW + 18, gap: BELOW - 4 },
          ...{ grid: { show: false }, ticks: { show: false }, font: "11px system-ui" },
          incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000],
          values: (_, places) => places.map((place) => now.rows[place]?.id ?? ""),
        },
        {
          ...{ stroke: () => color("--soft"), size: AXIS, font: "11px system-ui" },
          grid: { stroke: () => color("--line"), width: 1 },
          ticks: { show: false },
          values: (_, values) => values.map((value) => shortAmount(value, now.metric)),
        },
      ],
      series: [{}, ...curves(given, color)],
      hooks: {
        drawClear: [(self) => drawSelection(self, now, color)],
        draw: [(self) => drawMarks(self, now, color)],
        setCursor: [
          ({ cursor: { idx, left = -1 } }) =>
            onPoint(idx == null || left < 0 ? null : { place: idx, left: AXIS + left }),
        ],
      },
    },
    dataOf(given),
    element,
  );
  const onClick = (event: MouseEvent) => {
    // The end of a drag is no click.
    if (plot.select.width > 0) return;
    const place = plot.cursor.idx;
    if (place !== null && place !== undefined) onPick(place, event.shiftKey);
  };
  plot.over.addEventListener("click", onClick);
  const showRange = (from: number, to: number) => plot.setScale("x", { min: from, max: to });
  return {
    draw(next) {
      const hasOther = next.rows.length !== now.rows.length || next.plan !== now.plan;
      const isSame = next.over === now.over;
      now = next;
      if (!hasOther && isSame) return plot.redraw(false, false);
      const { min, max } = plot.scales.x ?? {};
      const isZoomed = min != null && max != null && max - min < plot.data[0].length - 1;
      plot.setData(dataOf(next), !isZoomed);
      if (isZoomed) plot.redraw();
    },
    zoom(by) {
      const all = now.rows.length - 1;
      const { min = 0, max = all } = plot.scales.x ?? {};
      if (by === 0 || all < 1) return showRange(0, Math.max(1, all));
      const half = Math.max(2, (((max ?? all) - (min ?? 0)) * by) / 2);
      const middle = now.shown ?? all / 2;
      showRange(Math.max(0, middle - half), Math.min(all, middle + half));
    },
    resize: (width, height) => plot.setSize({ width, height }),
    destroy() {
      plot.over.removeEventListener("click", onClick);
      plot.destroy();
    },
  };
}

function dataOf({ plan, over }: PlotGiven): uPlot.AlignedData {
  return [
    plan.places as number[],
    ...plan.curves.map(({ heights }) => heights as (number | null)[]),
    plan.budget as (number | null)[],
    over === null ? plan.places.map(() => null) : (over.heights as (number | null)[]),
  ];
}

function curves({ plan }: PlotGiven, color: (name: string) => string): uPlot.Series[] {
  const hidden = { points: { show: false } };
  return [
    ...plan.curves.map(({ label, color: name }) => ({
      ...{ label, paths: drawColumns, ...hidden, width: 0 },
      fill: () => color(name),
    })),
    {
      label: "Budget",
      paths: drawSteps,
      ...hidden,
      width: 1.5,
      dash: [5, 4],
      stroke: () => color("--bad"),
    },
    { label: "What if", paths: drawSteps, ...hidden, width: 2, stroke: () => color("--ink") },
  ];
}

/** A column for each call from half a place before it to half a place behind it. */
const drawColumns: uPlot.Series.PathBuilder = (self, series, from, to) => {
  const fill = new Path2D();
  const zero = self.valToPos(0, "y", true);
  for (const { left, right, height } of columnsOf(self, series, from, to)) {
    const top = self.valToPos(height, "y", true);
    fill.rect(left, top, right - left, zero - top);
  }
  return { fill, stroke: null };
};

/** The tops of such columns as one line, broken where nothing is known. */
const drawSteps: uPlot.Series.PathBuilder = (self, series, from, to) => {
  const stroke = new Path2D();
  let end: number | null = null;
  for (const { left, right, height } of columnsOf(self, series, from, to)) {
    const y = self.valToPos(height, "y", true);
    if (end !== null && left <= end) stroke.lineTo(left, y);
    else stroke.moveTo(left, y);
    stroke.lineTo(right, y);
    end = right;
  }
  return { stroke, fill: null };
};

function columnsOf(self: uPlot, series: number, from: number, to: number) {
  // Asked once: there may be ten thousands of places, all equally far from each other.
  const [first, second] = [self.valToPos(0, "x", true), self.valToPos(1, "x", true)];
  const pixelOf = (place: number) => first + place * (second - first);
  return planColumns(self.data[series] ?? [], from, to, pixelOf);
}

/** A bar behind the curves for the call shown, a thin one for the call it is compared with. */
function drawSelection(
  { ctx, bbox, ...self }: uPlot,
  { shown, compared }: PlotGiven,
  color: (name: string) => string,
): void {
  const { valToPos } = self as uPlot;
  for (const [place, name] of [
    [compared, "--compared"],
    [shown, "--selected"],
  ] as const) {
    if (place === null) continue;
    const left = valToPos.call(self, place - 0.5, "x", true);
    const width = Math.max(3, valToPos.call(self, place + 0.5, "x", true) - left);
    ctx.fillStyle = color(name);
    ctx.fillRect(left, bbox.top, width, bbox.height);
  }
}

function drawMarks(
  self: uPlot,
  { plan, shown, rows }: PlotGiven,
  color: (name: string) => string,
): void {
  const { ctx, bbox } = self;
  const ratio = devicePixelRatio;
  const at = (place: number) => self.valToPos(place, "x", true);
  const isInside = (x: number) => x >= bbox.left && x <= bbox.left + bbox.width;
  ctx.save();
  ctx.textAlign = "center";
  ctx.textBaseline = "top";
  ctx.font = `${12 * ratio}px system-ui`;
  const inSight = plan.marks.filter(({ place }) => isInside(at(place)));
  for (const { x, mark } of planSigns(inSight, at, 9 * ratio)) {
    const sign = MARKS[mark];
    ctx.fillStyle = color(sign.isBad ? "--bad" : "--soft");
    ctx.fillText(sign.glyph, x, bbox.top + bbox.height + 3 * ratio);
  }
  if (shown !== null && rows[shown] !== undefined && isInside(at(shown))) {
    ctx.fillStyle = color("--accent");
    ctx.fillRect(at(shown) - ratio, bbox.top, 2 * ratio, bbox.height);
  }
  ctx.restore();
}

function shortAmount(value: number, metric: Metric): string {
  if (metric === "cost") return formatDollars(value);
  return value >= 1000 ? `${formatCount(Math.round(value / 100) / 10)}k` : formatCount(value);
}

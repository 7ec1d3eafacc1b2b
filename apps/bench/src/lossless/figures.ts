// What the figures of several sizes come to beside the floor and beside the goals.
import { median } from "../runner/measure.ts";
import type { AskedFigures, RunnerFigures } from "./race.ts";
import type { Cost } from "./samples.ts";

/** A runner at one size. Times are ms of processor time, if not said otherwise. */
export interface Row {
  name: string;
  messages: number;
  bytesPerMessage: number;
  measures: Record<string, number>;
}

/** What a measure shall be at most, and how it is called. */
export interface Goal {
  measure: string;
  /** Undefined: there is none at this size. */
  atMost(row: Pick<Row, "messages" | "bytesPerMessage">): number | undefined;
}

/** A goal beside what was measured. */
export interface Verdict {
  name: string;
  messages: number;
  measure: string;
  value: number;
  atMost: number;
}

const SHORT_MESSAGES = 1_000;
const always = (limit: number) => () => limit;

/** Of an engine; ratios are to the floor in the same run. */
export const GOALS: readonly Goal[] = [
  { measure: "ingest ×", atMost: always(1.5) },
  { measure: "assemble ×", atMost: always(3) },
  { measure: "call ms", atMost: always(5) },
  { measure: "call worst ms", atMost: always(20) },
  { measure: "turn worst ms", atMost: always(20) },
  { measure: "stretch worst ms", atMost: always(20) },
  {
    measure: "disk ×",
    atMost: ({ bytesPerMessage }) => (bytesPerMessage < SHORT_MESSAGES ? 1.9 : 1.7),
  },
  { measure: "compressed disk ×", atMost: always(1) },
  { measure: "common word ms", atMost: ({ messages }) => (messages > 100_000 ? 50 : 10) },
  { measure: "restart ms", atMost: always(20) },
  { measure: "memory ×", atMost: always(2) },
];

/** Pure. `floor` is of the same size. */
export function rowOf(
  figures: RunnerFigures,
  floor: RunnerFigures,
  compressed: RunnerFigures | undefined,
): Row {
  const { name, messages, inputBytes, bytesPerMessage, ingest, asked } = figures;
  const { worstTurn, worstStretch, diskBytes, peakBytes } = figures;
  return {
    ...{ name, messages, bytesPerMessage },
    measures: {
      "ingest ms/message": ingest.cpuMs / messages,
      "ingest ×": ingest.cpuMs / floor.ingest.cpuMs,
      "ingest × by the clock": ingest.wallMs / floor.ingest.wallMs,
      ...(asked !== undefined && floor.asked !== undefined && askedMeasures(asked, floor.asked)),
      "turn worst ms": worstTurn.cpuMs,
      "turn worst ms by the clock": worstTurn.wallMs,
      "stretch worst ms": worstStretch.cpuMs,
      "stretch worst ms by the clock": worstStretch.wallMs,
      "disk ×": diskBytes / inputBytes,
      ...(compressed !== undefined && {
        "compressed disk ×": compressed.diskBytes / compressed.inputBytes,
        "compressed ingest ×": compressed.ingest.cpuMs / floor.ingest.cpuMs,
      }),
      "memory MB": peakBytes / 1e6,
      "memory ×": peakBytes / floor.peakBytes,
    },
  };
}

function askedMeasures(
  { calls, window, whole, searches, restart }: AskedFigures,
  floor: AskedFigures,
): Record<string, number> {
  const found = Object.entries(searches).flatMap(([search, { costs, isRight }]) =>
    // An answer that is wrong took no time worth telling.
    isRight ? [[`${search} ms`, middle(costs)] as const] : [[`${search} ms`, NaN] as const],
  );
  return {
    "assemble ms": middle(window),
    "assemble ×": middle(window) / middle(floor.window),
    "assemble whole ms": middle(whole),
    "assemble whole ×": middle(whole) / middle(floor.whole),
    "call ms": middle(calls),
    "call worst ms": Math.max(...calls.map(({ cpuMs }) => cpuMs)),
    "call worst ms by the clock": Math.max(...calls.map(({ wallMs }) => wallMs)),
    ...Object.fromEntries(found),
    "restart ms": Math.min(...restart.map(({ cpuMs }) => cpuMs)),
    "restart ms by the clock": Math.min(...restart.map(({ wallMs }) => wallMs)),
  };
}

const middle = (costs: readonly Cost[]) => median(costs.map(({ cpuMs }) => cpuMs));

/** Pure. Worst first: the larger the share of what the goal allows. */
export function verdictsOn(rows: readonly Row[]): Verdict[] {
  return rows
    .flatMap((row) =>
      GOALS.flatMap(({ measure, atMost }): Verdict[] => {
        const [value, limit] = [row.measures[measure], atMost(row)];
        if (value === undefined || limit === undefined) return [];
        return [{ name: row.name, messages: row.messages, measure, value, atMost: limit }];
      }),
    )
    .sort((a, b) => shareOf(b) - shareOf(a));
}

/** What was not answered rightly is the worst there is. */
const shareOf = ({ value, atMost }: Verdict) => (Number.isNaN(value) ? Infinity : value / atMost);

/** What grows with the number of messages, and how: 0 = not at all, 1 = as much as they do. */
export const GROWING: readonly string[] = [
  "ingest ms/message",
  "assemble ms",
  "assemble whole ms",
  "call ms",
  "common word ms",
  "rare word ms",
  "rare pattern ms",
  "pattern without hits ms",
  "restart ms",
  "memory MB",
];

/** Pure. Exponent by measure; only where there are two sizes or more. */
export function exponentsOf(rows: readonly Row[]): Record<string, number> {
  return Object.fromEntries(
    GROWING.flatMap((measure) => {
      const points = rows.flatMap(({ messages, measures }) => {
        const value = measures[measure];
        return value !== undefined && value > 0
          ? [[Math.log(messages), Math.log(value)] as const]
          : [];
      });
      return points.length < 2 ? [] : [[measure, slopeOf(points)]];
    }),
  );
}

/** Least squares. */
function slopeOf(points: readonly (readonly [number, number])[]): number {
  const mean = (at: 0 | 1) => points.reduce((sum, point) => sum + point[at], 0) / points.length;
  const [x, y] = [mean(0), mean(1)];
  const over = points.reduce((sum, point) => sum + (point[0] - x) * (point[1] - y), 0);
  return over / points.reduce((sum, point) => sum + (point[0] - x) ** 2, 0);
}

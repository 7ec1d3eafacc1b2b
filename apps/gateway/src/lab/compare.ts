// Sums up what engines made of recordings, and lays it out as a table.

import { perCall, quantile } from "../replay/summary.ts";
import { formatTable } from "../terminal/table.ts";
import type { Played, PlayedPoint } from "./shapes.ts";

/** One recording through one engine. */
export interface Compared extends Played {
  recording: string;
}

/** What is compared; of the calls that were made. */
export interface Figures {
  recording: string;
  engine: string;
  calls: number;
  /** Estimated, as provider and cache would count them. */
  tokens: { total: number; median: number; max: number };
  /** Share of all tokens that came out of the cache; null = nothing was sent. */
  cached: number | null;
  /** US dollars; null = the prices of the model are not known. */
  dollars: number | null;
  /** Share of needed names that were still in the request; null = none were needed. */
  evidence: number | null;
  /** Stored entries that were not shown, by their fate: the most of any call. */
  most: { summary: number; cleared: number; leftOut: number };
  callsOverBudget: number;
  compactions: number;
  /** Recorded calls that were not made, and turns that failed. */
  notMade: number;
  failures: number;
  /** Median ms of the engine per call. */
  engineMs: number;
  seconds: number;
}

const sum = (values: readonly number[]): number => values.reduce((all, one) => all + one, 0);

/** Pure. */
export function figuresOf(compared: Compared): Figures {
  const { recording, engine, points, compactions, failures, callsNotMade, durationMs } = compared;
  const tokens = points.map((point) => point.tokens.total);
  const needed = sum(points.map(({ evidence }) => evidence.needed));
  const present = sum(points.map(({ evidence }) => evidence.present));
  const read = sum(points.map(({ cache }) => cache.read));
  const counted = read + sum(points.map(({ cache }) => cache.written));
  const costs = points.map(({ cost }) => cost?.total ?? null);
  return {
    ...{ recording, engine: engine.asked, calls: points.length, compactions },
    tokens: { total: sum(tokens), median: quantile(tokens, 0.5), max: Math.max(0, ...tokens) },
    cached: counted === 0 ? null : read / counted,
    dollars: costs.some((cost) => cost === null) ? null : sum(costs as number[]),
    evidence: needed === 0 ? null : present / needed,
    most: {
      summary: Math.max(0, ...points.map(({ fates }) => fates.summary)),
      cleared: Math.max(0, ...points.map(({ fates }) => fates.cleared)),
      leftOut: Math.max(0, ...points.map(({ fates }) => fates.leftOut)),
    },
    callsOverBudget: points.filter(({ isOverBudget }) => isOverBudget).length,
    notMade: callsNotMade,
    failures: failures.length,
    engineMs: quantile(
      points.map((point) => point.engineMs),
      0.5,
    ),
    seconds: durationMs / 1000,
  };
}

export const notShownOf = ({ fates }: PlayedPoint): number => fates.all - fates.shown;

/** Headings and cells, for a terminal and a report alike. */
export interface FigureTable {
  headings: readonly string[];
  rows: readonly (readonly string[])[];
}

/** Pure. One row for each recording and engine. */
export function planTable(figures: readonly Figures[]): FigureTable {
  return {
    headings: [
      ...["recording", "engine", "calls", "tokens", "per call", "most", "cached", "cost"],
      ...["names in view", "in summaries", "cleared", "left out"],
      ...["over budget", "compactions", "failed", "median engine ms"],
    ],
    rows: figures.map((one) => [
      ...[one.recording, one.engine, whole(one.calls), whole(one.tokens.total)],
      ...[whole(perCall([one.tokens.total], one.calls)), whole(one.tokens.max), share(one.cached)],
      ...[one.dollars === null ? "–" : `$${one.dollars.toFixed(2)}`, share(one.evidence)],
      ...[whole(one.most.summary), whole(one.most.cleared), whole(one.most.leftOut)],
      ...[whole(one.callsOverBudget), whole(one.compactions)],
      ...[whole(one.failures), one.engineMs.toFixed(2)],
    ]),
  };
}

/** Pure. */
export function formatComparison(figures: readonly Figures[]): string {
  const { headings, rows } = planTable(figures);
  const known = figures.some(({ dollars }) => dollars !== null);
  return [
    formatTable(headings, rows),
    "",
    ...NOTES,
    ...(known ? [] : ["No cost: the model's prices are not known; name another with --model."]),
  ].join("\n");
}

/** What the figures mean, and what they do not. */
export const NOTES: readonly string[] = [
  "No model was called: recorded replies were played. Tokens are estimated; what is cached is the beginning that two requests share.",
  "Names in view: of the names that the next 20 replies use and somebody had named before, those that the request still held. It compares engines on a recording; it does not measure memory.",
];

const whole = (value: number): string => Math.round(value).toLocaleString("en-US");
const share = (value: number | null): string =>
  value === null ? "–" : `${(value * 100).toFixed(1)} %`;

// How results read in a terminal.
import type { Bench, CaseResult } from "./bench.ts";
import type { Machine } from "./machine.ts";

export function formatMachine({ cpu, cores, load, node, commit, platform }: Machine): string {
  const busy = load > cores * 0.75 ? " (busy: trust ratios, not times)" : "";
  return `${cores} × ${cpu}, load ${load}${busy}, Node ${node} ${platform}, commit ${commit ?? "unknown"}`;
}

/** A table of all cases: times in ms per run, ratios, facts. */
export function formatResults(bench: Bench, results: readonly CaseResult[]): string {
  const factNames = [...new Set(results.flatMap(({ facts }) => Object.keys(facts ?? {})))];
  const hasP99 = results.some(({ p99Ms }) => p99Ms !== undefined);
  const p99 = (text: string) => (hasP99 ? [text] : []);
  const header = ["case", "ratio", "median ms", ...p99("p99"), "min", "max", ...factNames];
  const rows = results.map((result) => [
    result.name,
    result.ratio === undefined ? "" : `×${result.ratio.toFixed(2)} of ${result.compareTo}`,
    milliseconds(result.medianMs),
    ...p99(result.p99Ms === undefined ? "" : milliseconds(result.p99Ms)),
    milliseconds(result.minMs),
    milliseconds(result.maxMs),
    ...factNames.map((name) =>
      result.facts?.[name] === undefined ? "" : number(result.facts[name]),
    ),
  ]);
  const widths = header.map((_, column) =>
    Math.max(...[header, ...rows].map((row) => row[column]!.length)),
  );
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) =>
        isText(column) ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!),
      )
      .join("  ")
      .trimEnd();
  const told = bench.tell?.(new Map(results.map((result) => [result.name, result]))) ?? [];
  const title = `${bench.name}: ${bench.description}`;
  return [title, line(header), ...rows.map(line), ...told].join("\n");
}

// Names and ratios read from the left, numbers from the right.
const isText = (column: number) => column <= 1;
const milliseconds = (value: number) =>
  value >= 100 ? value.toFixed(0) : value >= 1 ? value.toFixed(2) : value.toFixed(4);
const number = (value: number) =>
  Number.isInteger(value) ? value.toLocaleString("en") : value.toFixed(3);

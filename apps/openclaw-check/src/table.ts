// Tells what came of each plugin in each host, as a table.
import type { HostName } from "./hosts/host.ts";
import type { Counts } from "./judge.ts";

/** One plugin in one host. */
export interface Row {
  plugin: string;
  host: HostName;
  /** Sentences; none = it did its job. Absent: it was not run there. */
  faults?: readonly string[];
  seconds?: number;
  counts?: Counts;
}

/** Pure. A line per plugin and a column per host, in the order in which they come. */
export function tableOf(rows: readonly Row[]): string[] {
  const plugins = [...new Set(rows.map(({ plugin }) => plugin))];
  const hosts = [...new Set(rows.map(({ host }) => host))];
  const cells = plugins.map((plugin) => [
    plugin,
    ...hosts.map((host) => cellOf(rows.find((row) => row.plugin === plugin && row.host === host))),
  ]);
  const lines = [["plugin", ...hosts], ...cells];
  const widths = lines[0]!.map((_, at) => Math.max(...lines.map((line) => line[at]!.length)));
  return lines.map((line) =>
    line
      .map((cell, at) => cell.padEnd(widths[at]!))
      .join("  ")
      .trimEnd(),
  );
}

function cellOf({ faults, seconds = 0, counts }: Partial<Row> = {}): string {
  if (faults === undefined) return "NOT RUN";
  const told =
    counts === undefined
      ? ""
      : `, ${counts.turns} turns, ${counts.degraded} degraded, ${counts.lost} messages lost`;
  const outcome = faults.length === 0 ? "ok" : `FAILED (${faults.length})`;
  return `${outcome}${told}, ${seconds} s`;
}

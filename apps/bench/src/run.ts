// The command `pnpm bench`, which finds benches, runs them and checks their claims.
import { statSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import type { Bench, CaseResult } from "./runner/bench.ts";
import { findBenches, findCommands, loadBench, loadCommand } from "./runner/find.ts";
import { describeMachine } from "./runner/machine.ts";
import { DEFAULTS, measure } from "./runner/measure.ts";
import { formatMachine, formatResults } from "./runner/print.ts";
import { whyNotWritable } from "./shared/output-file.ts";

const USAGE = `Usage: pnpm bench NAME… [FOLDER] [options]
       pnpm bench COMMAND … (--help tells its own options)

  FOLDER          recorded sessions (*.jsonl), for the benches that replay them; without it they are skipped

  --list          the benches and commands there are
  --rounds N      timed rounds (default: the bench's own, else ${DEFAULTS.rounds})
  --filter TEXT   only cases whose name contains TEXT
  --json FILE     also write results, samples and machine to FILE ("-" = standard output, nothing else)
  --check         exit 1 when a claim of a bench (a ratio, a count) does not hold
  --help          this text
`;

/** Exit code. */
export async function main(args: readonly string[]): Promise<number> {
  const command = findCommands(import.meta.dirname).get(args[0] ?? "");
  if (command !== undefined) return (await loadCommand(command)).main(args.slice(1));
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      list: { type: "boolean" },
      help: { type: "boolean", short: "h" },
      check: { type: "boolean" },
      json: { type: "string" },
      rounds: { type: "string" },
      filter: { type: "string" },
    },
  });
  const files = findBenches(import.meta.dirname);
  if (values.help) return help(positionals, files);
  if (values.list) return list(files);
  const folder = positionals.find((name) => !files.has(name) && isFolder(name));
  const names = positionals.filter((name) => name !== folder);
  const known = [...files.keys(), ...[...findCommands(import.meta.dirname)].map(([name]) => name)];
  if (names.length === 0)
    return complain(`Name at least one bench: ${known.join(", ")}.\n\n${USAGE}`);
  const unknown = names.filter((name) => !files.has(name));
  if (unknown.length > 0)
    return complain(`There is no bench "${unknown.join('", "')}"; there are: ${known.join(", ")}.`);
  const rounds = values.rounds === undefined ? undefined : Number(values.rounds);
  if (rounds !== undefined && !(Number.isInteger(rounds) && rounds > 0))
    return complain(`--rounds takes a whole number above 0, not "${values.rounds}".`);

  const unwritable = whyNotWritable(values.json);
  if (unwritable !== undefined) return complain(unwritable);

  const quiet = values.json === "-";
  const machine = describeMachine();
  if (!quiet) say(`${formatMachine(machine)}\n`);
  const outcomes = [];
  for (const name of names) {
    const bench = only(await loadBench(name, files.get(name)!, folder), values.filter);
    if (bench.cases.length === 0 && values.filter !== undefined)
      return complain(`Bench "${name}" has no case whose name contains "${values.filter}".`);
    if (bench.cases.length === 0) {
      say(
        `${name}: skipped, because it needs a folder of recorded sessions: pnpm bench ${name} FOLDER\n`,
      );
      continue;
    }
    const results = await measure(bench, {
      ...DEFAULTS,
      rounds: rounds ?? bench.rounds ?? DEFAULTS.rounds,
      warmups: bench.warmups ?? DEFAULTS.warmups,
      minSampleMs: bench.minSampleMs ?? DEFAULTS.minSampleMs,
      onRound: quiet ? () => {} : progress,
    });
    const failures = values.filter === undefined ? (bench.check?.(byName(results)) ?? []) : [];
    outcomes.push({ bench: name, description: bench.description, cases: results, failures });
    if (!quiet)
      say(
        `\n${formatResults(bench, results)}${failures.map((failure) => `\nDoes not hold: ${failure}`).join("")}\n`,
      );
  }
  if (values.json !== undefined) {
    const text = `${JSON.stringify({ v: 1, machine, benches: outcomes }, null, 2)}\n`;
    if (quiet) say(text);
    else writeFileSync(values.json, text);
  }
  return values.check && outcomes.some(({ failures }) => failures.length > 0) ? 1 : 0;
}

const isFolder = (path: string) =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/** With what the named benches are about. */
async function help(names: readonly string[], files: ReadonlyMap<string, string>): Promise<number> {
  for (const name of names) {
    const file = files.get(name);
    if (file !== undefined) say(`${name}: ${(await loadBench(name, file)).description}\n\n`);
  }
  return say(USAGE);
}

async function list(files: ReadonlyMap<string, string>): Promise<number> {
  for (const [name, file] of files)
    say(`${name.padEnd(18)} ${(await loadBench(name, file)).description}\n`);
  for (const [name, file] of findCommands(import.meta.dirname))
    say(`${name.padEnd(18)} ${(await loadCommand(file)).description}\n`);
  return 0;
}

/** A bench without the cases that do not match; comparisons with missing cases are left out. */
function only(bench: Bench, filter: string | undefined): Bench {
  if (filter === undefined) return bench;
  return { ...bench, cases: bench.cases.filter(({ name }) => name.includes(filter)) };
}

const byName = (results: readonly CaseResult[]) =>
  new Map(results.map((result) => [result.name, result]));

function progress(round: number): void {
  process.stderr.write(round === 0 ? "warming up" : ` · round ${round}`);
}

function say(text: string): number {
  process.stdout.write(text);
  return 0;
}

function complain(text: string): number {
  process.stderr.write(`${text}\n`);
  return 2;
}

if (import.meta.main) {
  process.exitCode = await main(process.argv.slice(2)).catch((error: unknown) =>
    complain(error instanceof Error ? error.message : String(error)),
  );
}

// The command `pnpm bench soak`, which looks for lost and doubled messages under faults.
import { parseArgs } from "node:util";
import { formatTable } from "../../../gateway/src/terminal/table.ts";
import { slopeOf } from "./judge.ts";
import { runSoak, type SoakOptions } from "./run-soak.ts";
import type { Sample } from "./sample.ts";

export const description =
  "many sessions with faults of model and clients and a kill -9 in the middle: nothing lost, nothing doubled";

const USAGE = `Usage: pnpm bench soak [--steady] [--sessions N] [--seconds N] [--kills N] [--seed N]

Of six clients two send a whole history to the door each time, on its four wires in turn, one names a
session there, and three use the HTTP API of sessions.

  --sessions N   sessions that talk at the same time (default: 200; steady: 20)
  --seconds N    how long (default: 600; steady: 28800, which is a night)
  --kills N      how often the gateway is killed and started anew meanwhile (default: 1)
  --seed N       another number makes other choices
  --steady       whether anything grows: clients talk at leisure and delete each session after 40
                 messages, and all rest a while before each sample; nobody kills the gateway

Exit code 0, 1 where a message was lost, doubled or still waits, where one stands out of order or in
another session at the door or, steady, where memory in use, descriptors or the disk grow, 2 for wrong
options.
`;

/** Exit code. */
export async function main(args: readonly string[]): Promise<number> {
  const asked = readOptions(args);
  if (asked === undefined) {
    process.stderr.write(USAGE);
    return args[0] === "--help" ? 0 : 2;
  }
  const seed = asked.seed ?? Date.now() % 1_000_000;
  say(`${asked.sessions} sessions, ${asked.seconds} s, seed ${seed}`);
  say(COLUMNS.map(([title, width]) => title.padStart(width)).join("  "));
  const sampleMs = asked.steady
    ? between(10_000, (asked.seconds * 1000) / 120, 120_000)
    : between(5000, (asked.seconds * 1000) / 480, 60_000);
  const onSample = (sample: Sample) => say(rowOf(sample));
  const result = await runSoak({ ...asked, seed, sampleMs, onSample });
  const { samples, clients, door, model, messages, lost, doubled, saidAnyway } = result;
  const { misplaced, saidTwice, left } = result;
  say("");
  say(formatTable(["clients", "times"], rowsOf(clients)));
  say("");
  say(formatTable(["clients of the door", "times"], rowsOf(door)));
  say("");
  say(formatTable(["model", "requests"], rowsOf(model)));
  say("");
  // What a start takes and a kill gives back is no growth.
  const last = samples.filter(({ restarts }) => restarts === samples.at(-1)?.restarts);
  const late = last.slice(Math.floor(last.length * (asked.steady ? 0.25 : 0.5)));
  const growing = [];
  for (const field of ["rssMB", "liveMB", "codeMB", "descriptors", "diskMB", "costsMB"] as const) {
    const values = late
      .map((sample) => [sample.seconds, sample[field]] as const)
      .filter(([, value]) => !Number.isNaN(value));
    if (values.length === 0) continue;
    const { perMinute, within, grows } = slopeOf(values);
    const sure = Number.isNaN(within) ? "" : ` ± ${within.toFixed(3)}`;
    const sign = perMinute >= 0 ? "+" : "";
    say(`${field}: ${sign}${perMinute.toFixed(3)}${sure} a minute${grows ? ", it grows" : ""}`);
    if (grows && MUST_NOT_GROW.includes(field)) growing.push(field);
  }
  say(
    `${messages} messages: ${lost.length} lost, ${doubled.length} doubled, ${saidAnyway.length} said although they were taken back, ${misplaced.length} misplaced at the door, ${left} still waiting`,
  );
  if (saidTwice.length > 0)
    say(
      `${saidTwice.length} asked again in a session behind a kill, and there twice: ${saidTwice.join(", ")}`,
    );
  const wrong = [...lost, ...doubled, ...saidAnyway, ...misplaced];
  if (wrong.length > 0) say(`Wrong: ${wrong.slice(0, 20).join(", ")}`);
  if (result.home !== undefined) say(`The sessions are in ${result.home}.`);
  for (const step of result.trails.slice(0, 200)) say(`  ${step}`);
  const isSteady = !asked.steady || growing.length === 0;
  return wrong.length === 0 && left === 0 && isSteady ? 0 : 1;
}

/** What stays in the end: memory with its garbage is as large as the system lets it be. */
const MUST_NOT_GROW: readonly (keyof Sample)[] = ["liveMB", "descriptors", "diskMB"];

const between = (least: number, wished: number, most: number) =>
  Math.min(most, Math.max(least, wished));

const say = (line: string) => void process.stdout.write(`${line}\n`);

const COLUMNS = [
  ["s", 5, ({ seconds }) => String(seconds)],
  ["starts", 6, ({ restarts }) => String(restarts + 1)],
  ["RSS MB", 7, ({ rssMB }) => String(rssMB)],
  ["in use", 7, ({ liveMB }) => (Number.isNaN(liveMB) ? "" : liveMB.toFixed(2))],
  ["code MB", 7, ({ codeMB }) => (Number.isNaN(codeMB) ? "" : codeMB.toFixed(2))],
  ["descriptors", 11, ({ descriptors }) => String(descriptors)],
  ["disk MB", 8, ({ diskMB }) => diskMB.toFixed(2)],
  ["costs MB", 8, ({ costsMB }) => costsMB.toFixed(2)],
] as const satisfies readonly (readonly [string, number, (sample: Sample) => string])[];

const rowOf = (sample: Sample): string =>
  COLUMNS.map(([, width, cell]) => cell(sample).padStart(width)).join("  ");

const rowsOf = (counts: Readonly<Record<string, number>>) =>
  Object.entries(counts).map(([name, count]) => [name, String(count)]);

type Asked = Pick<SoakOptions, "sessions" | "seconds" | "kills" | "steady">;

/** Undefined: they are wrong, or help is asked for. */
function readOptions(args: readonly string[]): (Asked & { seed?: number }) | undefined {
  try {
    const text = { type: "string" } as const;
    const options = {
      sessions: text,
      seconds: text,
      seed: text,
      kills: text,
      steady: { type: "boolean" },
    } as const;
    const { values } = parseArgs({ args: [...args], options });
    const { steady = false, seed, kills = "1" } = values;
    const { sessions = steady ? "20" : "200", seconds = steady ? "28800" : "600" } = values;
    const numbers = {
      ...{ sessions: Number(sessions), seconds: Number(seconds), kills: Number(kills) },
    };
    const isCount = (value: number) => Number.isInteger(value) && value > 0;
    if (!Object.values(numbers).every(isCount)) return undefined;
    if (seed !== undefined && !isCount(Number(seed))) return undefined;
    return { ...numbers, steady, ...(seed !== undefined && { seed: Number(seed) }) };
  } catch {
    return undefined;
  }
}

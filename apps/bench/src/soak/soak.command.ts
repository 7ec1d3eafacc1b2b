// The command `pnpm bench soak`, which looks for lost and doubled messages under faults.
import { parseArgs } from "node:util";
import { formatTable } from "../../../gateway/src/terminal/table.ts";
import { slopePerMinute } from "./judge.ts";
import { runSoak, type Sample } from "./run-soak.ts";

export const description =
  "many sessions with faults of model and clients and a kill -9 in the middle: nothing lost, nothing doubled";

const USAGE = `Usage: pnpm bench soak [--sessions N] [--seconds N] [--seed N]

  --sessions N   sessions that talk at the same time (default: 200)
  --seconds N    how long (default: 600); the gateway is killed and started anew in the middle
  --seed N       another number makes other choices

Exit code 0, 1 where a message was lost, doubled or still waits, 2 for wrong options.
`;

/** Exit code. */
export async function main(args: readonly string[]): Promise<number> {
  const asked = readOptions(args);
  if (asked === undefined) {
    process.stderr.write(USAGE);
    return args[0] === "--help" ? 0 : 2;
  }
  const seed = asked.seed ?? Date.now() % 1_000_000;
  process.stdout.write(
    `${asked.sessions} sessions, ${asked.seconds} s, seed ${seed}\n  s  starts   RSS MB  descriptors  disk MB\n`,
  );
  const result = await runSoak({ ...asked, seed, onSample: (sample) => say(rowOf(sample)) });
  const { samples, clients, model, messages, lost, doubled, saidAnyway, left } = result;
  say("");
  say(formatTable(["clients", "times"], rowsOf(clients)));
  say("");
  say(formatTable(["model", "requests"], rowsOf(model)));
  say("");
  // What a start takes and a kill gives back is no growth.
  const last = samples.filter(({ restarts }) => restarts === samples.at(-1)?.restarts);
  const late = last.slice(Math.floor(last.length / 2));
  for (const field of ["rssMB", "descriptors", "diskMB"] as const) {
    const slope = slopePerMinute(late.map((sample) => [sample.seconds, sample[field]] as const));
    say(`${field}: ${slope >= 0 ? "+" : ""}${slope.toFixed(2)} a minute at the end`);
  }
  say(
    `${messages} messages: ${lost.length} lost, ${doubled.length} doubled, ${saidAnyway.length} said although they were taken back, ${left} still waiting`,
  );
  const wrong = [...lost, ...doubled, ...saidAnyway];
  if (wrong.length > 0) say(`Wrong: ${wrong.slice(0, 20).join(", ")}`);
  return wrong.length === 0 && left === 0 ? 0 : 1;
}

const say = (line: string) => void process.stdout.write(`${line}\n`);

const rowOf = ({ seconds, restarts, rssMB, descriptors, diskMB }: Sample): string =>
  `${String(seconds).padStart(3)}  ${String(restarts + 1).padStart(6)}  ${String(rssMB).padStart(7)}  ${String(descriptors).padStart(11)}  ${diskMB.toFixed(1).padStart(7)}`;

const rowsOf = (counts: Readonly<Record<string, number>>) =>
  Object.entries(counts).map(([name, count]) => [name, String(count)]);

/** Undefined: they are wrong, or help is asked for. */
function readOptions(
  args: readonly string[],
): { sessions: number; seconds: number; seed?: number } | undefined {
  try {
    const text = { type: "string" } as const;
    const options = { sessions: text, seconds: text, seed: text };
    const { values } = parseArgs({ args: [...args], options });
    const { sessions = "200", seconds = "600", seed } = values;
    const numbers = { sessions: Number(sessions), seconds: Number(seconds) };
    const isCount = (value: number) => Number.isInteger(value) && value > 0;
    if (!isCount(numbers.sessions) || !isCount(numbers.seconds)) return undefined;
    if (seed !== undefined && !isCount(Number(seed))) return undefined;
    return { ...numbers, ...(seed !== undefined && { seed: Number(seed) }) };
  } catch {
    return undefined;
  }
}

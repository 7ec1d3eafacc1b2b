// The command `pnpm bench compaction-replay`, which judges what engines send.
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { isAbort } from "@clew/plugin-sdk/core";
import { loadExactCounter } from "@clew/plugin-sdk/tokens";
import { describeMachine } from "../runner/machine.ts";
import { formatMachine } from "../runner/print.ts";
import { whyNotWritable } from "../shared/output-file.ts";
import { readRecordings } from "../shared/recordings.ts";
import { CONTROLS, type EvaluatedSession, type Evaluation, evaluateSession } from "./evaluate.ts";
import { generateSessions } from "./generate/sessions.ts";
import { formatReport } from "./print-report.ts";
import { cellsOf } from "./report.ts";
import type { ReplaySource } from "./script.ts";
import { readEngineChoice } from "./systems.ts";

export const description =
  "replays recorded and generated sessions: what stays in view, what it costs, beside three controls";

const USAGE = `Usage: pnpm bench compaction-replay [FOLDER] [options]

  FOLDER           recorded sessions (*.jsonl); without it only generated ones are replayed

  --engine NAME    an engine, NAME:no-model for one without a model's summaries, NAME:recorded for
                   one that gets what the recorded client's model summed up, in the sessions that
                   hold it; repeatable (default: legacy and legacy:no-model); the first is compared
                   to the controls
  --plugin FOLDER  a plugin to load, for engines that are not built in; repeatable
  --config FILE    configuration of the replay's gateway, as JSON
  --budget TOKENS  prompt budget, window minus reserve; repeatable (default: 32000, 64000, 128000)
  --only TEXT      only sessions whose name contains TEXT
  --seed N         of the generated sessions and the intervals (default: a new one, printed)
  --generated N    how many generated coding sessions; 0 = no generated sessions (default: 2)
  --json FILE      also write every cell and every session to FILE ("-" = standard output, nothing else)
  --help           this text

Exit code 0, 2 for wrong options, 130 when interrupted (what was finished is printed).
`;

interface Options {
  folder: string | undefined;
  evaluation: Omit<Evaluation, "counter" | "signal" | "onProgress" | "onTrouble">;
  only: string;
  seed: number;
  generated: number;
  json: string | undefined;
}

/** Exit code. */
export async function main(args: readonly string[]): Promise<number> {
  const options = readOptions(args);
  if (typeof options === "string") {
    const isHelp = options === USAGE;
    (isHelp ? process.stdout : process.stderr).write(options);
    return isHelp ? 0 : 2;
  }
  return run(options);
}

/** What is wrong with them, or the usage, is a text. */
function readOptions(args: readonly string[]): Options | string {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      engine: { type: "string", multiple: true, default: ["legacy", "legacy:no-model"] },
      plugin: { type: "string", multiple: true, default: [] },
      config: { type: "string" },
      budget: { type: "string", multiple: true, default: ["32000", "64000", "128000"] },
      only: { type: "string", default: "" },
      seed: { type: "string" },
      generated: { type: "string", default: "2" },
      json: { type: "string" },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help) return USAGE;
  const [folder, ...more] = positionals;
  if (more.length > 0) return `Name one FOLDER at most, not "${more.join('", "')}".\n`;
  const folders = [...(folder === undefined ? [] : [folder]), ...values.plugin];
  const missing = folders.find((name) => !isFolder(name));
  if (missing !== undefined) return `There is no folder "${missing}".\n`;
  const unwritable = whyNotWritable(values.json);
  if (unwritable !== undefined) return `${unwritable}\n`;
  const seed = values.seed === undefined ? Date.now() % 1_000_000 : Number(values.seed);
  const numbers = [...values.budget.map(Number), seed, Number(values.generated)];
  if (numbers.some((number) => !Number.isInteger(number) || number < 0))
    return "--budget, --seed and --generated take whole numbers.\n";
  return {
    folder,
    evaluation: {
      engines: values.engine.map(readEngineChoice),
      budgets: values.budget.map(Number),
      config: values.config === undefined ? {} : JSON.parse(readFileSync(values.config, "utf8")),
      pluginFolders: values.plugin,
      route: { provider: "anthropic", api: "anthropic-messages", id: "claude-opus-4-6" },
    },
    only: values.only,
    seed,
    generated: Number(values.generated),
    json: values.json,
  };
}

const isFolder = (path: string) =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

async function run({ folder, evaluation, only, seed, generated, json }: Options): Promise<number> {
  const isQuiet = json === "-";
  const say = (text: string) => void (isQuiet || process.stdout.write(text));
  const machine = describeMachine();
  say(`${formatMachine(machine)}\nseed ${seed}\n`);
  const stop = new AbortController();
  const onSignal = () => stop.abort();
  process.once("SIGINT", onSignal).once("SIGTERM", onSignal);
  const note = (text: string) => void process.stderr.write(text);
  const full: Evaluation = {
    ...evaluation,
    counter: await loadExactCounter(),
    signal: stop.signal,
    onProgress: (what) => note(`${what}\n`),
    onTrouble: (what) => note(`! ${what}\n`),
  };
  const sets: { title: string; sources: Iterable<ReplaySource> }[] = [
    { title: "Recorded sessions", sources: recorded(folder) },
    { title: `Generated sessions, seed ${seed}`, sources: generateSessions(seed, generated) },
  ];
  const done: { title: string; sessions: EvaluatedSession[] }[] = [];
  for (const { title, sources } of sets) {
    const sessions = await evaluateAll(sources, only, full);
    if (sessions.length > 0) done.push({ title, sessions });
  }
  process.off("SIGINT", onSignal).off("SIGTERM", onSignal);
  if (done.length === 0 && !stop.signal.aborted) {
    note(`There was no session to replay${only === "" ? "" : ` whose name contains "${only}"`}.\n`);
    return 2;
  }
  const engines = evaluation.engines.map(({ name }) => name);
  const controls = Object.keys(CONTROLS);
  for (const { title, sessions } of done)
    say(`\n${formatReport({ title, sessions, engines, controls, seed })}\n`);
  if (json !== undefined) {
    const sections = done.map((one) => ({ ...one, cells: cellsOf(one.sessions, seed) }));
    const { signal: _signal, counter: _counter, ...settings } = full;
    const about = { engines, controls, budgets: settings.budgets, config: settings.config };
    const text = `${JSON.stringify({ v: 1, machine, seed, ...about, sections }, null, 1)}\n`;
    if (isQuiet) process.stdout.write(text);
    else writeFileSync(json, text);
  }
  if (!stop.signal.aborted) return 0;
  note("Interrupted: only finished sessions are counted.\n");
  return 130;
}

function recorded(folder: string | undefined): ReplaySource[] {
  return readRecordings(folder).map((recording) => ({ ...recording, constraints: [] }));
}

/** An interrupt ends it with what was finished. */
async function evaluateAll(
  sources: Iterable<ReplaySource>,
  only: string,
  evaluation: Evaluation,
): Promise<EvaluatedSession[]> {
  const sessions: EvaluatedSession[] = [];
  for (const source of sources) {
    if (evaluation.signal.aborted) break;
    if (!source.name.includes(only)) continue;
    try {
      sessions.push(...(await evaluateSession(source, evaluation)));
    } catch (error) {
      if (!isAbort(error, evaluation.signal)) throw error;
    }
  }
  return sessions;
}

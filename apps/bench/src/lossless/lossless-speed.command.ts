// The command `pnpm bench lossless-speed` for engines beside what SQLite alone takes.
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { isAbort } from "@clew/plugin-sdk/core";
import { describeMachine } from "../runner/machine.ts";
import { formatMachine } from "../runner/print.ts";
import { whyNotWritable } from "../shared/output-file.ts";
import { type Row, rowOf, verdictsOn } from "./figures.ts";
import { FLOOR, formatSpeed } from "./print-speed.ts";
import { type Runner, race } from "./race.ts";

export const description =
  "the lossless engine beside raw SQLite; goals: ingest ≤ ×1.5, assemble ≤ ×3, 5 ms a call, flat to 1,000,000 messages";

const USAGE = `Usage: pnpm bench lossless-speed [options]

  --messages LIST  sizes of the session (default: 1000,10000,50000,1000000, in ten minutes)
  --bytes N        average size of a message (default: 1900; from 100,000 messages on 700)
  --seed N         of the generated session (default: 1)
  --beside FOLDER  also measure the engine of this plugin; a folder with a manifest
  --config FILE    the configuration of that plugin, as JSON
  --folder FOLDER  where databases are made, and removed again (default: the system's)
  --json FILE      also write every figure to FILE ("-" = standard output, nothing else)
  --check          exit 1 when a goal is missed; by the clock, so only on a machine that is idle
  --help           this text

The plugin that comes with Clew is measured as it is built: pnpm build first.
Exit code 0, 1 with --check, 2 for wrong options, 130 when interrupted (finished sizes are printed).
`;

const SHORT_FROM = 100_000;
const [LONG_BYTES, SHORT_BYTES] = [1_900, 700];
/** A larger database says nothing new about compression. */
const COMPRESSED_TO = 50_000;

interface Options {
  messages: number[];
  bytes: number | undefined;
  seed: number;
  beside: Runner | undefined;
  root: string;
  json: string | undefined;
  isChecked: boolean;
}

/** Exit code. */
export async function main(args: readonly string[]): Promise<number> {
  const options = readOptions(args);
  if (typeof options !== "string") return run(options);
  (options === USAGE ? process.stdout : process.stderr).write(options);
  return options === USAGE ? 0 : 2;
}

/** What is wrong with them, or the usage, is a text. */
function readOptions(args: readonly string[]): Options | string {
  const { values } = parseArgs({
    args: [...args],
    options: {
      messages: { type: "string", default: "1000,10000,50000,1000000" },
      bytes: { type: "string" },
      seed: { type: "string", default: "1" },
      beside: { type: "string" },
      config: { type: "string" },
      folder: { type: "string", default: tmpdir() },
      json: { type: "string" },
      check: { type: "boolean", default: false },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help) return USAGE;
  const messages = values.messages.split(",").map(Number);
  const numbers = [...messages, Number(values.bytes ?? LONG_BYTES), Number(values.seed)];
  if (numbers.some((number) => !Number.isInteger(number) || number < 1))
    return "--messages, --bytes and --seed take whole numbers above 0.\n";
  if (messages.some((number) => number < LEAST)) return `Name sizes of ${LEAST} or more.\n`;
  if (statSync(values.folder, { throwIfNoEntry: false })?.isDirectory() !== true)
    return `There is no folder "${values.folder}".\n`;
  const unwritable = whyNotWritable(values.json);
  if (unwritable !== undefined) return `${unwritable}\n`;
  const beside = values.beside === undefined ? undefined : runnerIn(values.beside, values.config);
  if (typeof beside === "string") return beside;
  return {
    ...{ messages, beside, root: values.folder, json: values.json, isChecked: values.check },
    bytes: values.bytes === undefined ? undefined : Number(values.bytes),
    seed: Number(values.seed),
  };
}

/** Fewer say nothing about a ratio. */
const LEAST = 200;

/** What is wrong with the folder is a text. */
function runnerIn(folder: string, config: string | undefined): Runner | string {
  const manifest = join(folder, "openclaw.plugin.json");
  if (!existsSync(manifest))
    return `--beside: there is no plugin in "${folder}" (no ${manifest}).\n`;
  const { id } = JSON.parse(readFileSync(manifest, "utf8")) as { id: string };
  const settings = config === undefined ? {} : JSON.parse(readFileSync(config, "utf8"));
  const engine = { engineId: id, pluginFolder: resolve(folder), config: settings, needsFile: true };
  return { name: id === OURS ? `${id} beside` : id, engine };
}

const OURS = "lossless";
const ours = (config: Record<string, unknown>) => ({
  ...{ engineId: OURS, pluginFolder: null, config, needsFile: false },
});

async function run({ messages, bytes, beside, json, isChecked, ...about }: Options) {
  const isQuiet = json === "-";
  const machine = describeMachine();
  const say = (text: string) => void (isQuiet || process.stdout.write(text));
  const note = (text: string) => void process.stderr.write(text);
  say(`${formatMachine(machine)}\n`);
  const stop = new AbortController();
  const onSignal = () => stop.abort();
  process.once("SIGINT", onSignal).once("SIGTERM", onSignal);
  const rows: Row[] = [];
  try {
    for (const size of messages) {
      const isCompressed = size <= COMPRESSED_TO;
      const runners: Runner[] = [
        { name: FLOOR, engine: null },
        { name: OURS, engine: ours({}) },
        ...(isCompressed
          ? [{ name: "compressed", engine: ours({ compress: true }), onlyStores: true }]
          : []),
        ...(beside === undefined ? [] : [beside]),
      ];
      const figures = await race({
        ...{ ...about, runners, messages: size, signal: stop.signal },
        bytesPerMessage: bytes ?? (size < SHORT_FROM ? LONG_BYTES : SHORT_BYTES),
        onProgress: (what) => note(`${size.toLocaleString("en")}: ${what}\n`),
      });
      const [floor, ...engines] = figures;
      const compressed = engines.find(({ name }) => name === "compressed");
      rows.push(
        ...[floor!, ...engines.filter((engine) => engine !== compressed)].map((engine) =>
          rowOf(engine, floor!, engine.name === OURS ? compressed : undefined),
        ),
      );
    }
  } catch (error) {
    if (!isAbort(error, stop.signal)) throw error;
  } finally {
    process.off("SIGINT", onSignal).off("SIGTERM", onSignal);
  }
  if (rows.length > 0) say(`\n${formatSpeed(rows)}\n`);
  const verdicts = verdictsOn(rows.filter(({ name }) => name === OURS));
  if (json !== undefined) {
    const text = `${JSON.stringify({ v: 1, machine, seed: about.seed, rows, verdicts }, null, 1)}\n`;
    if (isQuiet) process.stdout.write(text);
    else writeFileSync(json, text);
  }
  if (stop.signal.aborted) {
    note("Interrupted: only finished sizes are told.\n");
    return 130;
  }
  return isChecked && verdicts.some(({ value, atMost }) => !(value <= atMost)) ? 1 : 0;
}

// The command `pnpm test:openclaw`, which tries packed plugins in OpenClaw and in Clew.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { clew } from "./hosts/clew.ts";
import type { HostName, HostPlace, TestedHost } from "./hosts/host.ts";
import { fetchOpenClaw, newestOpenClaw, openClaw, PINNED } from "./hosts/openclaw.ts";
import { type Counts, countTurns, judge, judgeCalls, sequencesOf } from "./judge.ts";
import { lead } from "./lead.ts";
import { startModelServer } from "./model-server.ts";
import { PLUGINS, packed, type TriedPlugin, traced } from "./plugins.ts";
import { sessionScript } from "./session-script.ts";
import { type Row, tableOf } from "./table.ts";

const USAGE = `Usage: pnpm test:openclaw [options]

  --host NAME    only "openclaw" or only "clew"; default: both
  --plugin ID    only this plugin: ${PLUGINS.map(({ id }) => id).join(", ")}
  --newest       OpenClaw as npm has it today, and only tell what differs
  --update       write down the calls of engines as what is expected
  --keep         leave the folders of the hosts, and say where they are
  --help         this text

"messages lost" counts what the person said that no request to the model held; it is told, and fails
no row.

OpenClaw ${PINNED} is fetched once, some 650 MB, to .cache/openclaw/.
`;

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const CACHE = join(ROOT, ".cache/openclaw");
const EXPECTED = fileURLToPath(new URL("expected.json", import.meta.url));

type Sequences = Record<string, string[]>;
/** Host → plugin → phase → calls. */
type Expected = Partial<Record<HostName, Record<string, Sequences>>>;

type MakeHost = (place: HostPlace) => Promise<TestedHost>;

/** Exit code. */
async function main(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      ...{ host: { type: "string" }, plugin: { type: "string" }, newest: { type: "boolean" } },
      ...{ update: { type: "boolean" }, keep: { type: "boolean" }, help: { type: "boolean" } },
    },
  });
  if (values.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  const plugins = PLUGINS.filter(({ id }) => values.plugin === undefined || id === values.plugin);
  if (plugins.length === 0 || !["openclaw", "clew", undefined].includes(values.host)) {
    process.stderr.write(`There is no such plugin or host.\n\n${USAGE}`);
    return 2;
  }
  const scratch = mkdtempSync(join(tmpdir(), "clew-openclaw-"));
  const expected = JSON.parse(readFileSync(EXPECTED, "utf8")) as Expected;
  const hosts: [HostName, MakeHost][] = [];
  const rows: Row[] = [];
  if (values.host !== "clew")
    try {
      const version = values.newest ? await newestOpenClaw(CACHE) : PINNED;
      const program = await fetchOpenClaw(version, CACHE);
      hosts.push(["openclaw", (place) => openClaw(place, { program, version })]);
    } catch (error) {
      tell(`NOT RUN in OpenClaw: ${(error as Error).message}`);
      rows.push(...plugins.map(({ id }) => ({ plugin: id, host: "openclaw" }) as const));
    }
  if (values.host !== "openclaw") hosts.push(["clew", clew]);
  for (const plugin of plugins) {
    const archive = packed(plugin, join(scratch, "packages"));
    for (const [name, make] of hosts) {
      const folder = join(scratch, `${plugin.id}-${name}`);
      const { faults, seconds, counts, sequences } = await tryPlugin({
        plugin,
        archive,
        make,
        folder,
      });
      const other = values.update ? [] : differences(expected[name]?.[plugin.id], sequences);
      if (values.update) expected[name] = { ...expected[name], [plugin.id]: sequences };
      const row = { plugin: plugin.id, host: name, faults: [...faults, ...other], seconds, counts };
      rows.push(row);
      tell(describe(row));
    }
  }
  if (values.update && !values.newest)
    writeFileSync(EXPECTED, `${JSON.stringify(expected, null, 2)}\n`);
  if (values.keep) tell(`The hosts' folders: ${scratch}`);
  else rmSync(scratch, { recursive: true, force: true, maxRetries: 3 });
  tell(["", ...tableOf(rows)].join("\n"));
  const isWhole = rows.every(({ faults }) => faults?.length === 0);
  if (!values.newest) return isWhole ? 0 : 1;
  tell("The newest OpenClaw is only reported on.");
  return 0;
}

/** Once from the packed bytes, and once with the calls written down. */
async function tryPlugin({
  plugin,
  archive,
  make,
  folder,
}: {
  plugin: TriedPlugin;
  archive: string;
  make: MakeHost;
  folder: string;
}): Promise<{ faults: string[]; seconds: number; counts: Counts; sequences: Sequences }> {
  const began = Date.now();
  const file = join(folder, "calls.jsonl");
  const plain = await trial({ plugin, archive, make, folder: join(folder, "packed") });
  const watched = await trial({
    ...{ plugin, make, folder: join(folder, "traced"), file },
    archive: traced(archive, plugin.id, folder),
  });
  return {
    faults: [
      ...plain.faults,
      ...watched.faults.map((fault) => `with calls written down: ${fault}`),
    ],
    seconds: Math.round((Date.now() - began) / 1000),
    counts: plain.counts,
    sequences: watched.sequences,
  };
}

async function trial({
  plugin,
  archive,
  make,
  folder,
  file,
}: {
  plugin: TriedPlugin;
  archive: string;
  make: MakeHost;
  folder: string;
  file?: string;
}): Promise<{ faults: string[]; counts: Counts; sequences: Sequences }> {
  mkdirSync(folder, { recursive: true });
  const model = await startModelServer();
  const variables = file === undefined ? undefined : { PLUGIN_TRACE: file };
  const host = await make({ folder, baseUrl: model.baseUrl, variables });
  try {
    await host.install(archive);
    await host.start();
    const steps = sessionScript({
      ...{ readFile: host.readFile, recall: plugin.recall, tag: `${plugin.id}-${host.name}` },
    });
    const newCalls = file === undefined ? () => [] : callsIn(file);
    const outcomes = await lead(host, model, { steps, newCalls });
    const ofEngine = await host.faultsOfEngine(plugin.id);
    writeFileSync(join(folder, "outcomes.json"), JSON.stringify(outcomes, null, 1));
    const calls = file === undefined ? [] : judgeCalls(outcomes);
    return {
      faults: [...judge(plugin, outcomes), ...ofEngine, ...calls],
      counts: countTurns(outcomes, ofEngine),
      sequences: sequencesOf(outcomes),
    };
  } catch (error) {
    return { faults: [String(error)], counts: countTurns([], []), sequences: {} };
  } finally {
    await host.stop();
    await model.close();
  }
}

/** What was called since it was last asked. */
function callsIn(file: string): () => string[] {
  let told = 0;
  return () => {
    const lines = existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
    const fresh = lines.slice(told).map((line) => (JSON.parse(line) as { method: string }).method);
    told = lines.length;
    return fresh;
  };
}

/** In both directions: a call that comes no more is told as well as one that is new. */
function differences(known: Sequences = {}, found: Sequences): string[] {
  // A session that never began has faults enough.
  if (Object.keys(found).length === 0) return [];
  const lacking = (here: Sequences, there: Sequences, what: string) =>
    Object.entries(here).flatMap(([phase, sequences]) =>
      sequences
        .filter((sequence) => !there[phase]?.includes(sequence))
        .map((sequence) => `${phase}: the calls "${sequence}" ${what}`),
    );
  return [
    ...lacking(found, known, "are expected nowhere; if they are right, run with --update"),
    ...lacking(known, found, "are expected and did not come"),
  ];
}

const describe = ({ plugin, host, faults = [], seconds }: Row) =>
  [
    `${faults.length === 0 ? "ok    " : "FAILED"}  ${plugin} in ${host} (${seconds} s)`,
    ...faults.map((fault) => `        ${fault}`),
  ].join("\n");

const tell = (line: string) => void process.stdout.write(`${line}\n`);

process.exitCode = await main(process.argv.slice(2));

// The command `pnpm test:plugins`, which tries real plugins and compares what came of each.
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { cleanEnvironment, TookTooLong } from "../release/run.mjs";
import { ROWS, type Row } from "./rows.ts";
import { fetchPlugin } from "./source.ts";
import { formatRow, isRun, type NotRun, type Outcome, type Table, worse } from "./table.ts";
import { tryPlugin } from "./try-plugin.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const EXPECTED = join(import.meta.dirname, "expected.json");
const CLEW = join(ROOT, "apps/gateway/dist/main.js");
const CACHE = join(ROOT, ".cache/plugins");

const USAGE = `pnpm test:plugins [--write] [name=folder | folder ...]

Tries real plugins of npm, and those in folders you name: installs each in a home that is thrown
away, talks with it, and compares what came of it with scripts/plugins/expected.json.

  name=folder  the folder stands in for the row of that name; a folder alone is a row of its own
  --write      write down what came of them as what is expected from now on
  --help       print this

Exit code 1: one does less than it did, or ran out of time. Exit code 2: what was typed is wrong.
`;

const { values, positionals } = readArguments();

/** "name=folder", or a folder alone, which is a row of its own. */
const named = new Map(
  positionals.map((given): [string, string] => {
    const [, name, folder] = /^([\w.-]+)=(.+)$/.exec(given) ?? [];
    return folder === undefined
      ? [basename(resolve(given)), resolve(given)]
      : [name!, resolve(folder)];
  }),
);
const own = [...named.keys()].filter((name) => !ROWS.some((row) => row.name === name));
const rows: Row[] = [...ROWS, ...own.map((name) => ({ name, npm: null }))];

const late: string[] = [];
const stopped: string[] = [];

/** The trial broke off, of which nobody knows whose fault it is. */
function broken(name: string, { message }: Error): NotRun {
  stopped.push(name);
  return { notRun: `the trial broke off: ${message}` };
}

/** On a busy machine it says nothing of the plugin. */
function ranOut(name: string, { message }: Error): NotRun {
  late.push(name);
  return { notRun: `${message}; if the machine was busy, run it again` };
}

const scratch = await mkdtemp(join(tmpdir(), "clew-plugins-"));
const table: Record<string, Outcome | NotRun> = {};
try {
  const env = cleanEnvironment(scratch);
  for (const row of rows) {
    const folder = named.get(row.name);
    const source = await fetchPlugin(row, { folder, cache: CACHE, scratch, env });
    const outcome =
      "notRun" in source
        ? source
        : await tryPlugin(row, { spec: source.spec, scratch, clew: CLEW }).catch((error: Error) =>
            error instanceof TookTooLong ? ranOut(row.name, error) : broken(row.name, error),
          );
    table[row.name] = outcome;
    console.log(formatRow(row.name, outcome));
  }
} finally {
  await rm(scratch, { recursive: true, force: true });
}

const expected = JSON.parse(await readFile(EXPECTED, "utf8").catch(() => "{}")) as Table;
const problems = worse(expected, table);
const tried = Object.values(table).filter(isRun).length;
const outOfTime = late.length === 0 ? "" : `; ${late.join(", ")} ran out of time`;
const brokeOff = stopped.length === 0 ? "" : `; the trial of ${stopped.join(", ")} broke off`;
console.log(
  `${tried} of ${rows.length} tried; ${problems.length} worse than expected${outOfTime}${brokeOff}`,
);
for (const problem of problems) console.log(`WORSE   ${problem}`);
if (values.write) {
  // What was not run now stands as it was.
  const kept = Object.entries(table).map(([name, row]) => [
    name,
    isRun(row) ? row : (expected[name] ?? row),
  ]);
  await writeFile(EXPECTED, `${JSON.stringify(Object.fromEntries(kept), null, 2)}\n`);
}
process.exitCode =
  (problems.length > 0 && !values.write) || late.length + stopped.length > 0 ? 1 : 0;

function readArguments() {
  try {
    const options = {
      write: { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false },
    } as const;
    const read = parseArgs({ options, allowPositionals: true });
    if (!read.values.help) return read;
    process.stdout.write(USAGE);
    process.exit(0);
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${USAGE}`);
    process.exit(2);
  }
}

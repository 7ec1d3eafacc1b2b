// Whether every surface tells the same fates of recorded sessions.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCli } from "../../../gateway/src/cli/run.ts";
import { readEnvironment } from "../../../gateway/src/config/environment.ts";
import { checkConfigText } from "../../../gateway/src/config/load.ts";
import { createGateway } from "../../../gateway/src/create-gateway.ts";
import type { Gateway } from "../../../gateway/src/gateway.ts";
import { addFate, noFates } from "../../../gateway/src/inspect/fates.ts";
import type { CallPage } from "../../../gateway/src/inspect/shapes/calls.ts";
import type { EntryPage, FateCounts } from "../../../gateway/src/inspect/shapes/entries.ts";
import type { Output } from "../../../gateway/src/terminal/output.ts";
import { type BenchCase, type CaseResult, defineBench } from "../runner/bench.ts";
import { readRecordings } from "../shared/recordings.ts";

/** What is compared; the other recordings are of the same kinds. */
const RECORDINGS = [
  ...["coding-44", "coding-86", "coding-c8", "coding-d0", "coding-pi"],
  ...["support-airline-1", "support-airline-2"],
];
const WINDOWS = [32_000, 64_000, 128_000];
const ENGINES = ["legacy", "lossless"];

/** What was found; all but `calls` and `entries` must stay 0. */
interface Findings {
  calls: number;
  entries: number;
  /** Calls whose fates together are not all entries. */
  unequal: number;
  /** Calls of which two surfaces tell differently. */
  apart: number;
  /** Requests that could not be made again to the byte. */
  lost: number;
}

export default (folder: string | undefined) =>
  defineBench({
    name: "fates",
    description:
      "recordings × windows × engines: all fates are all entries, alike in API, /context, inspect and replay, and every request is made again (needs FOLDER)",
    rounds: 1,
    warmups: 0,
    cases: readRecordings(folder)
      .filter(({ name }) => RECORDINGS.includes(name.replace(".jsonl", "")))
      .flatMap(({ name }) =>
        WINDOWS.flatMap((window) =>
          ENGINES.map((engine) => caseOf({ folder: folder!, name, window, engine })),
        ),
      ),
    check: (results: ReadonlyMap<string, CaseResult>) =>
      [...results].flatMap(([name, { facts }]) =>
        ["unequal", "apart", "lost"].flatMap((what) =>
          facts?.[what] === 0 ? [] : [`${name}: ${facts?.[what]} ${what}.`],
        ),
      ),
  });

interface Case {
  folder: string;
  name: string;
  window: number;
  engine: string;
}

const nameOf = ({ name, window, engine }: Case): string =>
  `${name.replace(".jsonl", "")} ${window} ${engine}`;

function caseOf(given: Case): BenchCase {
  return {
    name: nameOf(given),
    prepare() {
      let found: Findings | undefined;
      return {
        async run() {
          found = await compareSurfaces(given);
          process.stderr.write(`\n${nameOf(given)}: ${JSON.stringify(found)}`);
        },
        facts: () => ({ ...found }),
      };
    },
  };
}

async function compareSurfaces({ folder, name, window, engine }: Case): Promise<Findings> {
  const home = await mkdtemp(join(tmpdir(), "clew-fates-"));
  const clew = commandIn(home);
  try {
    if (engine !== "legacy") await clew(["plugins", "enable", engine]);
    const replay = (await clew([
      ...["replay", join(folder, name), "--into", home, "--json"],
      ...["--context-window", String(window)],
    ])) as { session: { key: string }; perCall: { id: string; fates: FateCounts }[] };
    const { key } = replay.session;
    const told = (await clew(["inspect", key, "--json"])) as CallPage;
    const loaded = checkConfigText("{}", "clew.json");
    const quiet = { info() {}, warn() {}, error() {} };
    const environment = readEnvironment({ CLEW_HOME: home, HOME: home });
    const gateway = createGateway({ environment, loaded, log: quiet });
    try {
      return await compareCalls(gateway, key, { told, replay });
    } finally {
      await gateway.close();
    }
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

async function compareCalls(
  gateway: Gateway,
  key: string,
  { told, replay }: { told: CallPage; replay: { perCall: { id: string; fates: FateCounts }[] } },
): Promise<Findings> {
  const inspector = await gateway.inspect(key);
  const { calls } = (await inspector.calls({ limit: Number.MAX_SAFE_INTEGER }))!;
  const ofReplay = new Map(replay.perCall.map(({ id, fates }) => [id, fates]));
  const ofCommand = new Map(told.calls.map(({ id, fates }) => [id, fates]));
  const found: Findings = { calls: 0, entries: 0, unequal: 0, apart: 0, lost: 0 };
  for (const { id, fates, error } of calls) {
    const page = (await inspector.entries({ call: id, limit: Number.MAX_SAFE_INTEGER }))!;
    const request = (await inspector.request(id))!;
    const others = [ofCommand.get(id), page.fates, countRows(page)];
    // A call that the recording does not answer failed, and no replay tells of it.
    if (error === null || ofReplay.has(id)) others.push(ofReplay.get(id));
    found.calls++;
    found.entries += fates.all;
    found.unequal += isWhole(fates) ? 0 : 1;
    found.apart += others.every((other) => isSame(other, fates)) ? 0 : 1;
    found.lost += request.isSame ? 0 : 1;
  }
  const last = calls.at(-1)!.fates;
  found.apart += isSame((await gateway.context(key))?.fates, last) ? 0 : 1;
  const next = await nextFates(gateway, key);
  found.unequal += next === null || isWhole(next) ? 0 : 1;
  found.apart += next === null || next.all >= last.all ? 0 : 1;
  return found;
}

/** Entry by entry, as the page lists them. */
function countRows({ entries }: EntryPage): FateCounts {
  const counts = noFates();
  for (const entry of entries) addFate(counts, entry);
  return counts;
}

/** What `/context` tells of the call that would come next; null: it would not be made. */
async function nextFates(gateway: Gateway, key: string): Promise<FateCounts | null> {
  const { data } = await gateway.command(key, { kind: "command", name: "context", args: "" });
  return (data as { fates: FateCounts | null }).fates;
}

const isWhole = ({ all, shown, summary, cleared, leftOut, unseen }: FateCounts): boolean =>
  shown + summary + cleared + leftOut + unseen === all;

const isSame = (one: FateCounts | undefined, other: FateCounts): boolean =>
  one !== undefined &&
  Object.entries(other).every(([kind, count]) => one[kind as keyof FateCounts] === count);

/** Runs commands in this process; what they print as JSON. */
function commandIn(home: string): (args: string[]) => Promise<unknown> {
  return async (args) => {
    let printed: unknown;
    let said = "";
    const output: Output = {
      line() {},
      write() {},
      note: (text) => {
        said = text;
      },
      json: (value) => {
        printed = JSON.parse(JSON.stringify(value));
      },
    };
    const environment = readEnvironment({ CLEW_HOME: home, HOME: home });
    const code = await runCli(args, { environment, output });
    if (code !== 0) throw new Error(`clew ${args[0]} ended with ${code}: ${said}`);
    return printed;
  };
}

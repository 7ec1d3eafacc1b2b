// The command `pnpm release:skew`, which tries a release with the one before it.
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { describeContext } from "../../../apps/gateway/src/reports/context-view.ts";
import { readLastRequest } from "../../../apps/gateway/src/reports/report-log.ts";
import {
  type LoopbackRegistry,
  startLoopbackRegistry,
} from "../../../apps/gateway/src/testing/registry.ts";
import { editJson } from "../copy.ts";
import { packFolder } from "../pack.ts";
import { type Manifest, readManifest } from "../packages.ts";
import { changesetsIn } from "../publish.ts";
import { cleanEnvironment, run } from "../run.mjs";
import { lastRelease, mayBreak, nextVersion, plannedBump } from "./plan.ts";

const SDK = "@clew/plugin-sdk";
const CORE = "@clew/engine-core";
const FOLDERS = { [SDK]: "packages/plugin-sdk", [CORE]: "packages/engine-core" };
/** Engines of the older checkout, each one file over the SDK. */
const ENGINES = ["minimal-engine", "owning-engine", "delegating-engine"];

/** The session of host.mjs. */
const SESSION = "skew";

/** Versions of one side. */
type Versions = Readonly<Record<typeof SDK | typeof CORE, string>>;

interface Stage {
  root: string;
  scratch: string;
  /** The older checkout. */
  older: string;
  env: NodeJS.ProcessEnv;
  registry: LoopbackRegistry;
}

interface Mix {
  what: string;
  core: string;
  sdk: string;
}

/** Core N with SDK N−1, and core N−1 with SDK N, which to it is N+1. */
const mixes = (before: Versions, now: Versions): Mix[] => [
  { what: "core of this release, SDK before", core: now[CORE], sdk: before[SDK] },
  { what: "core before, SDK of this release", core: before[CORE], sdk: now[SDK] },
];

/** Prints a line per thing tried; what fails does not keep the rest from being tried. */
class Trial {
  failed = 0;

  async try(what: string, act: () => Promise<string>): Promise<void> {
    try {
      const text = await act();
      console.log(`ok      ${what}${text === "" ? "" : ` (${text})`}`);
    } catch (error) {
      this.failed += 1;
      console.log(`FAILED  ${what}\n        ${error instanceof Error ? error.message : error}`);
    }
  }
}

/** Takes the older commit out of git and builds what is released of it here. */
async function checkOut({ root, older, env, scratch }: Stage, ref: string): Promise<void> {
  const archive = join(scratch, "older.tar");
  await run("git", ["archive", "--output", archive, ref], { cwd: root, env });
  await mkdir(older);
  const at = { cwd: older, env };
  await run("tar", ["-xf", archive], at);
  await run("pnpm", ["install", "--frozen-lockfile", "--prefer-offline"], at);
  for (const name of [SDK, CORE]) await run("pnpm", ["--filter", name, "run", "build"], at);
}

/** Packs both packages of a built checkout and offers them under `versions`. */
async function offer(
  { scratch, env, registry }: Stage,
  checkout: string,
  versions: Versions,
): Promise<void> {
  for (const name of [SDK, CORE] as const) {
    const into = await mkdtemp(join(scratch, "pack-"));
    const { file } = await packFolder(checkout, FOLDERS[name]!, into);
    await run("tar", ["-xzf", file], { cwd: into, env });
    const folder = join(into, "package");
    await editJson(join(folder, "package.json"), (manifest) =>
      stamped(manifest as Manifest, versions),
    );
    await run("npm", ["pack", "--pack-destination", into], { cwd: folder, env });
    const manifest = readManifest(folder);
    const packed = `${name.slice(1).replace("/", "-")}-${manifest.version}.tgz`;
    registry.offer(manifest, await readFile(join(into, packed)));
  }
}

/** The manifest with the versions of its side, its range on the SDK too. */
function stamped(manifest: Manifest, versions: Versions): Manifest {
  const { dependencies } = manifest;
  return {
    ...manifest,
    version: versions[manifest.name as keyof Versions],
    ...(dependencies?.[SDK] !== undefined && {
      dependencies: { ...dependencies, [SDK]: `^${versions[SDK]}` },
    }),
  };
}

/** One mix in an empty folder: the engines of the release before, and a report of each turn. */
async function tryMix(trial: Trial, stage: Stage, { what, core, sdk }: Mix): Promise<void> {
  const folder = await mkdtemp(join(stage.scratch, "mix-"));
  const { env } = stage;
  const at = { cwd: folder, env };
  await writeFile(join(folder, "package.json"), '{ "private": true, "type": "module" }\n');
  await trial.try(`${what}: install`, async () => {
    await run("npm", ["install", `${CORE}@${core}`, `${SDK}@${sdk}`], at);
    const own = existsSync(join(folder, "node_modules", CORE, "node_modules", SDK));
    return `${core} with ${sdk}: ${own ? "each its own SDK" : "one SDK for both"}`;
  });
  await cp(join(stage.root, "scripts/release/skew/host.mjs"), join(folder, "host.mjs"));
  const memory = `export { createMemoryEngine as createEngine } from "${SDK}/testing";\n`;
  await writeFile(join(folder, "memory-engine.ts"), memory);
  for (const name of ENGINES)
    await cp(join(stage.older, "apps/examples", name, "src/engine.ts"), join(folder, `${name}.ts`));
  for (const name of ["memory-engine", ...ENGINES])
    await trial.try(`${what}: turns of ${name}`, async () => {
      const reports = join(folder, "reports", name);
      await mkdir(reports, { recursive: true });
      const file = join(reports, `${SESSION}.jsonl`);
      await run(process.execPath, ["host.mjs", `./${name}.ts`, file], at);
      return readReports(reports);
    });
}

/** The readers of this checkout, on reports as they were written. */
async function readReports(folder: string): Promise<string> {
  const lines = (await readFile(join(folder, `${SESSION}.jsonl`), "utf8")).trim().split("\n");
  const reports = lines.map(
    (line) => JSON.parse(line) as { turnId: string; modelCalls: unknown[] },
  );
  const { turnId } = reports.findLast(({ modelCalls }) => modelCalls.length > 0)!;
  const last = await readLastRequest(folder, SESSION);
  if (last?.report.turnId !== turnId)
    throw new Error("the reader of reports found another turn, or none");
  const view = await describeContext(folder, { sessionId: SESSION, branch: [] }, last);
  const { length } = view.messages;
  // Three prompts, a call with its result, a reply, and the prompt of the last turn.
  if (length < 7) throw new Error(`the readers of reports found ${length} messages`);
  return `${lines.length} reports, ${length} messages in the last`;
}

/** The kit of this release on engines of the one before: a correct engine fails at a major only. */
async function tryKit(trial: Trial, stage: Stage, before: Versions, now: Versions): Promise<void> {
  const folder = await mkdtemp(join(stage.scratch, "kit-"));
  const at = { cwd: folder, env: stage.env };
  await writeFile(join(folder, "package.json"), '{ "private": true, "type": "module" }\n');
  await run("npm", ["install", `${SDK}@${now[SDK]}`], at);
  await writeFile(
    join(folder, "kit.ts"),
    `import { checkEngine } from "${SDK}/testing";
    const { createEngine } = await import(process.argv[2]);
    const { passed, results } = await checkEngine(createEngine);
    const failed = results.filter(({ outcome }) => outcome === "failed");
    console.log(JSON.stringify({ passed, failed: failed.map(({ id }) => id) }));`,
  );
  for (const name of ENGINES) {
    const engine = join(stage.older, "apps/examples", name, "src/engine.ts");
    await cp(engine, join(folder, `${name}.ts`));
    await trial.try(`the kit of this release on ${name} of the one before`, async () => {
      const { stdout } = await run(process.execPath, ["kit.ts", `./${name}.ts`], at);
      const { passed, failed } = JSON.parse(stdout) as { passed: number; failed: string[] };
      if (failed.length > 0 && !mayBreak(before[SDK], now[SDK]))
        throw new Error(`it fails ${failed.join(", ")}, and the release is no major`);
      return `${passed} cases${failed.length > 0 ? `, and not ${failed.join(", ")}` : ""}`;
    });
  }
}

function versionsOf(checkout: string): Versions {
  const version = (name: typeof SDK | typeof CORE) =>
    readManifest(join(checkout, FOLDERS[name]!)).version;
  return { [SDK]: version(SDK), [CORE]: version(CORE) };
}

/** What the next release will be called: a version of its own, as changesets plan it. */
async function plannedVersions(root: string): Promise<Versions> {
  const changesets = await Promise.all(
    changesetsIn(root).map((file) => readFile(join(root, ".changeset", file), "utf8")),
  );
  const now = versionsOf(root);
  const next = (name: typeof SDK | typeof CORE) =>
    nextVersion(now[name], plannedBump(changesets, name));
  return { [SDK]: next(SDK), [CORE]: next(CORE) };
}

const HELP = `Usage: pnpm release:skew [REF] [--keep]

Tries engine-core and plugin-sdk of this checkout with those of REF (default: the last release):
the newer core with the older SDK, the older core with the newer SDK, engines of REF with both, the
newer conformance kit on those engines, and the gateway's readers on reports of either core. Packs,
installs with npm in empty folders, and touches nothing else.

  --keep   keep the folder it worked in, to look at what failed
`;

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      keep: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) {
    process.stdout.write(HELP);
    return 0;
  }
  const root = resolve(".");
  const scratch = await mkdtemp(join(tmpdir(), "clew-skew-"));
  const plain = cleanEnvironment(scratch, { CI: "true", npm_config_cache: join(scratch, "cache") });
  const tags = await run("git", ["tag", "--list"], { cwd: root, env: plain });
  const ref = positionals[0] ?? lastRelease(tags.stdout.trim().split("\n"), CORE);
  if (ref === undefined) {
    console.log("There is no release to compare with yet; name a commit: pnpm release:skew REF");
    return 0;
  }
  const upstream = await run("npm", ["config", "get", "registry"], { cwd: root, env: plain });
  const registry = await startLoopbackRegistry({ upstream: upstream.stdout.trim() });
  const env = { ...plain, npm_config_registry: registry.url };
  const stage = { root, scratch, older: join(scratch, "older"), env, registry };
  const trial = new Trial();
  try {
    await checkOut({ ...stage, env: plain }, ref);
    const [before, now] = [versionsOf(stage.older), await plannedVersions(root)];
    await offer(stage, stage.older, before);
    await offer(stage, root, now);
    for (const mix of mixes(before, now)) await tryMix(trial, stage, mix);
    await tryKit(trial, stage, before, now);
  } finally {
    await registry.close();
    if (values.keep) console.log(`kept: ${scratch}`);
    else await rm(scratch, { recursive: true, force: true, maxRetries: 5 });
  }
  return trial.failed === 0 ? 0 : 1;
}

if (import.meta.main) process.exitCode = await main();

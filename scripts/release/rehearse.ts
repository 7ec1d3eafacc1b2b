// Rehearses a release in a throw-away copy, for `pnpm release:rehearse`.
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { formatTable } from "../../apps/gateway/src/terminal/table.ts";
import {
  type LoopbackRegistry,
  startLoopbackRegistry,
} from "../../apps/gateway/src/testing/registry.ts";
import { commandsOf, exampleOf } from "../readme.mjs";
import { runExample } from "./checks.mjs";
import { copyCheckout, editJson } from "./copy.ts";
import { startGateway } from "./gateway.mjs";
import { catalogOf, readManifest, releaseOrder, workspacePackages } from "./packages.ts";
import { changesetsIn, publishFolder } from "./publish.ts";
import { cleanEnvironment, run } from "./run.mjs";

/** What the rehearsal says where the code lives; nobody can own a name under .test. */
const REPOSITORY = "git+https://git.clew.test/rehearsal/clew.git";

const GUIDE_FILES = [
  "package.json",
  "tsconfig.json",
  "openclaw.plugin.json",
  "src/engine.ts",
  "src/engine.test.ts",
];

interface Step {
  step: string;
  what: string;
  ok: boolean;
  ms: number;
  /** What came of it, or why it failed. */
  text: string;
}

interface Stage {
  checkout: string;
  scratch: string;
  env: NodeJS.ProcessEnv;
  signal: AbortSignal;
  registry: LoopbackRegistry;
}

class Rehearsal {
  readonly steps: Step[] = [];
  readonly #say: (line: string) => void;
  readonly #signal: AbortSignal;

  constructor(say: (line: string) => void, signal: AbortSignal) {
    this.#say = say;
    this.#signal = signal;
  }

  /** Runs one step, notes how it went and says whether it went well; only an abort is thrown. */
  async step(step: string, what: string, act: () => Promise<string>): Promise<boolean> {
    this.#signal.throwIfAborted();
    const begun = performance.now();
    let ok = true;
    let text: string;
    try {
      text = await act();
    } catch (error) {
      this.#signal.throwIfAborted();
      ok = false;
      text = error instanceof Error ? error.message : String(error);
    }
    const ms = Math.round(performance.now() - begun);
    this.steps.push({ step, what, ok, ms, text });
    this.#say(`${ok ? "ok     " : "FAILED "} ${step}: ${what}${text === "" ? "" : ` (${text})`}`);
    return ok;
  }
}

/** The whole rehearsal: first the release itself, then what people do with it. */
async function rehearse(rehearsal: Rehearsal, root: string, stage: Stage): Promise<void> {
  if (!(await release(rehearsal, root, stage))) return;
  for (const { name, directory } of releaseOrder(workspacePackages(stage.checkout)))
    if (name !== "@clew/gateway") await packageReadme(rehearsal, stage, name, directory);
  for (const name of await readdir(join(stage.checkout, "apps/examples")))
    await exampleReadme(rehearsal, stage, name);
  await gatewayReadme(rehearsal, stage);
  await pluginGuide(rehearsal, stage);
}

/** Versions, packs and publishes, as the release workflow does; each step needs the one before. */
async function release(rehearsal: Rehearsal, root: string, stage: Stage): Promise<boolean> {
  const { checkout, scratch, env, signal, registry } = stage;
  const at = { cwd: checkout, env, signal };
  // Outside the copy, as the workflow publishes: nothing there but what was packed.
  const into = join(scratch, "release");
  const publishing = { env: { ...env, npm_config_registry: registry.url }, signal };
  const count = () => registry.published.length;
  return (
    (await rehearsal.step("copy", "the checkout as it is", async () => {
      await copyCheckout(root, checkout, { env, signal });
      await editJson(join(checkout, "package.json"), (manifest) => ({
        ...manifest,
        repository: { type: "git", url: REPOSITORY },
      }));
      await run("pnpm", ["install", "--frozen-lockfile", "--prefer-offline"], at);
      return "installed";
    })) &&
    (await rehearsal.step("version", "every package with a changeset", async () => {
      const waiting = changesetsIn(checkout).length;
      if (waiting === 0) return "no changeset waits, the versions stay";
      await run("pnpm", ["run", "release:version"], at);
      if (changesetsIn(checkout).length > 0) throw new Error("changesets are left over");
      return `${waiting} changesets`;
    })) &&
    (await rehearsal.step("version", "the result keeps the repository's rules", async () => {
      const rules = ["guides", "repository", "release/manifest", "release/changes"];
      const files = rules.map((name) => `scripts/${name}.test.ts`);
      await run("pnpm", ["exec", "vitest", "run", "--project", "repository", ...files], at);
      return rules.join(", ");
    })) &&
    (await rehearsal.step("pack", "every released package", async () => {
      await run("pnpm", ["run", "release:pack", "--to-publish", "--into", into], at);
      return (await readFile(join(into, "tarballs.txt"), "utf8"))
        .trim()
        .split("\n")
        .map((line) => line.split(" ").slice(0, 2).join(" "))
        .join(", ");
    })) &&
    (await rehearsal.step("publish", "libraries first", async () => {
      const host = registry.url.replace("http:", "");
      await writeFile(join(into, ".npmrc"), `${host}/:_authToken=rehearsal\n`);
      await publishFolder(checkout, into, publishing);
      return `${count()} packages`;
    })) &&
    (await rehearsal.step("publish", "a second time changes nothing", async () => {
      const before = count();
      await publishFolder(checkout, into, publishing);
      if (count() !== before) throw new Error("something was published twice");
      return "";
    }))
  );
}

/** An empty folder whose npm knows the rehearsal's registry. */
async function emptyFolder({ scratch }: Stage, name: string): Promise<string> {
  const folder = join(scratch, "people", name.replaceAll(/\W+/g, "-"));
  await mkdir(folder, { recursive: true });
  return folder;
}

/** What somebody does who reads a package's README: install what it says, run what it shows. */
async function packageReadme(
  rehearsal: Rehearsal,
  stage: Stage,
  name: string,
  directory: string,
): Promise<void> {
  await rehearsal.step("README", name, async () => {
    const folder = await emptyFolder(stage, name);
    const at = { cwd: folder, env: installing(stage), signal: stage.signal };
    const readme = await readFile(join(stage.checkout, directory, "README.md"), "utf8");
    const installs = commandsOf(readme).filter((line) => line.startsWith("npm install "));
    for (const line of installs) await shell(line, at);
    const example = exampleOf(
      await readFile(join(folder, "node_modules", name, "README.md"), "utf8"),
    );
    if (installs.length === 0 || example === undefined)
      throw new Error("the README has no npm install or no example");
    await runExample({ example, folder, env: at.env, signal: stage.signal });
    return installs.join("; ");
  });
}

/** An example's folder outside the workspace, with the published packages. */
async function exampleReadme(rehearsal: Rehearsal, stage: Stage, name: string): Promise<void> {
  await rehearsal.step("README", `example ${name}`, async () => {
    const folder = await emptyFolder(stage, `example-${name}`);
    const from = join(stage.checkout, "apps/examples", name);
    for (const part of ["README.md", "package.json", "src"])
      await cp(join(from, part), join(folder, part), { recursive: true });
    const published = new Set(stage.registry.published.map((each) => each.replace(/@[^@]+$/, "")));
    const catalog = catalogOf(await readFile(join(stage.checkout, "pnpm-workspace.yaml"), "utf8"));
    await editJson(join(folder, "package.json"), ({ devDependencies: _, ...manifest }) => ({
      ...manifest,
      dependencies: Object.fromEntries(
        Object.keys((manifest.dependencies as object | undefined) ?? {}).flatMap((each) => {
          const version = published.has(each) ? "latest" : catalog[each];
          return version === undefined ? [] : [[each, version]];
        }),
      ),
    }));
    const at = { cwd: folder, env: installing(stage), signal: stage.signal };
    await run("npm", ["install"], at);
    const example = exampleOf(await readFile(join(folder, "README.md"), "utf8"));
    if (example === undefined) throw new Error("the README has no example");
    await runExample({ example, folder, env: at.env, signal: stage.signal });
    return "";
  });
}

/** The gateway through npx, in an empty folder: a start that is asked things, then its README. */
async function gatewayReadme(rehearsal: Rehearsal, stage: Stage): Promise<void> {
  const folder = await emptyFolder(stage, "gateway");
  const env = installing(stage, { CLEW_HOME: join(folder, "home") });
  const at = { cwd: folder, env, signal: stage.signal };
  const directory = join(stage.checkout, "apps/gateway");
  const { version } = readManifest(directory);
  await rehearsal.step("npx", "@clew/gateway --version", async () => {
    const { stdout } = await run("npx", ["@clew/gateway", "--version"], at);
    if (stdout.trim() !== version) throw new Error(`it says ${stdout.trim()}, not ${version}`);
    return version;
  });
  await rehearsal.step("npx", "@clew/gateway start: health, page, two turns, Ctrl-C", async () => {
    const running = await startGateway({
      file: "npx",
      args: ["@clew/gateway"],
      cwd: folder,
      env,
      group: true,
      signal: stage.signal,
    });
    try {
      await running.check({ version });
    } finally {
      await running.stop("SIGINT");
    }
    return "";
  });
  const readme = await readFile(join(directory, "README.md"), "utf8");
  const lines = commandsOf(readme).filter((line) => line.startsWith("npx @clew/gateway "));
  if (lines.length === 0)
    await rehearsal.step("npx", "the README", () =>
      Promise.reject(new Error("it has no npx line")),
    );
  for (const line of lines) {
    // Started above: this one would not end.
    if (/gateway start\b/.test(line)) continue;
    await rehearsal.step("npx", line.replace("npx ", ""), async () => {
      await recordSession(env.CLEW_HOME!, join(folder, "recorded.jsonl"));
      await shell(line, at);
      return "";
    });
  }
}

/** The README's replay wants a recorded session: the newest of this home will do. */
async function recordSession(home: string, file: string): Promise<void> {
  const sessions = join(home, "agents/main/sessions");
  const names = await readdir(sessions).catch(() => []);
  const [session] = names.filter((name) => name.endsWith(".jsonl"));
  if (session !== undefined) await cp(join(sessions, session), file);
}

/** The plugin author guide, from an empty folder to an answer: files and commands as printed. */
async function pluginGuide(rehearsal: Rehearsal, stage: Stage): Promise<void> {
  const gateway = await emptyFolder(stage, "gateway-of-the-author");
  const folder = await emptyFolder(stage, "plugin");
  const env = installing(stage, { CLEW_HOME: join(gateway, "home") });
  // Without the optional image library, so that it is known to be optional.
  const install = ["install", "--omit=optional", "@clew/gateway"];
  const ready = await rehearsal.step("guide", `npm ${install.join(" ")}`, async () => {
    await run("npm", install, { cwd: gateway, env, signal: stage.signal });
    return "";
  });
  if (!ready) return;
  const path = [join(gateway, "node_modules/.bin"), env.PATH].join(delimiter);
  const at = { cwd: folder, env: { ...env, PATH: path }, signal: stage.signal };
  const guide = await readFile(join(stage.checkout, "docs/plugin-author-guide.md"), "utf8");
  for (const { file, text } of guideFiles(guide)) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), text);
  }
  for (const line of commandsOf(guide))
    if (!(await rehearsal.step("guide", line, async () => lastLine(await shell(line, at))))) return;
  await rehearsal.step("guide", "its engine is the one that answers", async () => {
    const { stdout } = await run("clew", ["doctor"], at);
    const engine = stdout.split("\n").find((line) => line.includes("newest"));
    if (engine === undefined) throw new Error(`the doctor knows no engine "newest": ${stdout}`);
    return engine.trim();
  });
}

/** Pure. The files a guide shows: each is the first block after its name. */
export function guideFiles(guide: string): { file: string; text: string }[] {
  return GUIDE_FILES.flatMap((file) => {
    const named = guide.indexOf(`\`${file}\``);
    const text = named < 0 ? undefined : /```\w+\n([\s\S]*?)```/.exec(guide.slice(named))?.[1];
    return text === undefined ? [] : [{ file, text }];
  });
}

const installing = (
  { env, registry }: Stage,
  extra: Record<string, string> = {},
): NodeJS.ProcessEnv => ({ ...env, npm_config_registry: registry.url, ...extra });

async function shell(
  line: string,
  at: { cwd: string; env: NodeJS.ProcessEnv; signal: AbortSignal },
): Promise<string> {
  return (await run("bash", ["-c", line], at)).stdout;
}

const lastLine = (text: string) => text.trim().split("\n").at(-1)?.trim().slice(0, 80) ?? "";

const HELP = `Usage: pnpm release:rehearse [--json] [--keep]

Rehearses a release without touching this checkout or any real registry: versions, packs and
publishes a throw-away copy to a registry on this machine, then installs from it in empty folders
and runs every README there, the examples', the gateway through npx and the plugin author guide.

  --json   print the steps as JSON
  --keep   keep the folder it worked in, to look at what failed

Other people's packages come from your usual registry. Exit codes: 0 all went well, 1 a step failed,
130 interrupted.
`;

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      json: { type: "boolean", default: false },
      keep: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) {
    process.stdout.write(HELP);
    return 0;
  }
  const interrupted = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.on(signal, () => interrupted.abort(new Error(`interrupted by ${signal}`)));
  const { signal } = interrupted;
  const say = (line: string) => void process.stderr.write(`${line}\n`);
  const rehearsal = new Rehearsal(say, signal);
  const scratch = await mkdtemp(join(tmpdir(), "clew-rehearsal-"));
  let registry: LoopbackRegistry | undefined;
  try {
    const env = cleanEnvironment(scratch, {
      CI: "true",
      TURBO_TELEMETRY_DISABLED: "1",
      npm_config_cache: join(scratch, "npm-cache"),
      // npx asks before it fetches; whoever follows a README says yes.
      npm_config_yes: "true",
    });
    const root = process.cwd();
    const upstream = await run("npm", ["config", "get", "registry"], { cwd: root, env, signal });
    registry = await startLoopbackRegistry({ upstream: upstream.stdout.trim() });
    const checkout = join(scratch, "checkout");
    await mkdir(checkout);
    await rehearse(rehearsal, root, { checkout, scratch, env, signal, registry });
  } catch (error) {
    if (!signal.aborted) throw error;
    say((signal.reason as Error).message);
  } finally {
    await registry?.close();
    if (values.keep) say(`kept: ${scratch}`);
    else await rm(scratch, { recursive: true, force: true, maxRetries: 5 });
  }
  const failed = rehearsal.steps.filter(({ ok }) => !ok);
  if (values.json)
    console.log(
      JSON.stringify(
        { ok: failed.length === 0 && !signal.aborted, steps: rehearsal.steps },
        null,
        2,
      ),
    );
  else
    console.log(
      formatTable(
        ["step", "what", "result", "time"],
        rehearsal.steps.map(({ step, what, ok, ms }) => [
          step,
          what,
          ok ? "ok" : "FAILED",
          `${(ms / 1000).toFixed(1)} s`,
        ]),
      ),
    );
  if (signal.aborted) return 130;
  return failed.length === 0 ? 0 : 1;
}

if (import.meta.main) process.exitCode = await main();

// Checks what must work with packages as people install them.
import { cpSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { exampleOf, needsDatabase } from "../readme.mjs";
import { startGateway } from "./gateway.mjs";
import { isBelow } from "./lacks.mjs";
import { run } from "./run.mjs";

const GATEWAY = "@clew/gateway";
const EXAMPLES = new URL("../../apps/examples/", import.meta.url);

/**
 * @typedef {object} Installed
 * @property {string} folder where the packages were installed
 * @property {NodeJS.ProcessEnv} env
 * @property {readonly string[]} names the packages
 *
 * @typedef {object} Result
 * @property {string} what
 * @property {string} [fault] why it failed
 */

/** @type {Record<string, (installed: Installed) => AsyncGenerator<Result>>} */
export const CHECKS = {
  "entry points": entryPoints,
  readme: readmes,
  conformance: engines,
  "a host": host,
  command,
  gateway,
  "private files": privateFiles,
  "stop by signal": stopBySignal,
  refusal,
};

/** Every entry point of every package, by import and by require. */
async function* entryPoints({ folder, env, names }) {
  for (const name of names) {
    const specifiers = entriesOf(join(folder, "node_modules", name), name);
    if (specifiers.length === 0) continue;
    const code = `
      import { createRequire } from "node:module";
      const require = createRequire(import.meta.url);
      for (const specifier of ${JSON.stringify(specifiers)}) {
        const imported = Object.keys(await import(specifier));
        const required = Object.keys(require(specifier));
        if (imported.length === 0) throw new Error(specifier + " exports nothing");
        const missing = imported.filter((key) => !required.includes(key));
        if (missing.length > 0) throw new Error(specifier + " gives require() no " + missing);
      }`;
    const file = join(folder, `entries-of-${name.replace(/\W+/g, "-")}.mjs`);
    writeFileSync(file, code);
    yield attempt(`entry points of ${name} (${specifiers.length})`, () =>
      run(process.execPath, ["--disable-warning=ExperimentalWarning", file], { cwd: folder, env }),
    );
  }
}

function entriesOf(home, name) {
  const { exports = {} } = JSON.parse(readFileSync(join(home, "package.json"), "utf8"));
  return Object.entries(exports)
    .filter(([subpath]) => subpath !== "./package.json")
    .flatMap(([subpath, target]) => {
      if (!subpath.includes("*")) return [`${name}${subpath.slice(1)}`];
      const [before, after] = target.default.split("*");
      return readdirSync(join(home, before))
        .filter((file) => file.endsWith(after))
        .map((file) => `${name}${subpath.slice(1).replace("*", file.slice(0, -after.length))}`);
    });
}

/** The example of each README, against what it says it prints. */
async function* readmes({ folder, env, names }) {
  for (const name of names) {
    const readme = readFileSync(join(folder, "node_modules", name, "README.md"), "utf8");
    const example = exampleOf(readme);
    if (example !== undefined)
      yield attempt(`README of ${name}`, () => runExample({ example, folder, env }));
  }
}

/**
 * Runs a README's example in a folder where its packages are installed.
 *
 * @param {{ example: { code: string, output: string | undefined }, folder: string, env:
 * NodeJS.ProcessEnv, signal?: AbortSignal }} request
 */
export async function runExample({ example: { code, output }, folder, env, signal }) {
  // Its package was loaded by then, and npm test runs it with a database.
  if (needsDatabase({ code }) && env.DATABASE_URL === undefined) return;
  const file = join(folder, "example.ts");
  writeFileSync(file, code);
  const { stdout } = await runTypeScript(file, { cwd: folder, env, signal });
  if (output !== undefined && stdout.trim() !== output.trim())
    throw new Error(
      `the README promises\n${output.trim()}\nand this was printed:\n${stdout.trim()}`,
    );
}

function runTypeScript(file, options) {
  const flags = isBelow(process.versions.node, "22.18") ? ["--experimental-strip-types"] : [];
  return run(process.execPath, [...flags, "--disable-warning=ExperimentalWarning", file], options);
}

/** The conformance kit on every engine we ship or show. */
async function* engines({ folder, env }) {
  const shipped = {
    "the legacy engine": 'import { createLegacyEngine as create } from "@clew/legacy-engine";',
    "the smallest correct engine":
      'import { createMemoryEngine as create } from "@clew/plugin-sdk/testing";',
  };
  const shown = readdirSync(EXAMPLES).filter((name) => name.endsWith("-engine"));
  for (const name of shown) {
    copyExample(name, "engine.ts", folder);
    shipped[`the example ${name}`] = `import { createEngine as create } from "./${name}.ts";`;
  }
  for (const [what, line] of Object.entries(shipped)) {
    const file = join(folder, "conformance.ts");
    writeFileSync(
      file,
      `${line}
      import { checkEngine } from "@clew/plugin-sdk/testing";
      const { passed, results } = await checkEngine(create);
      for (const { id, outcome, reason } of results)
        if (outcome === "failed") throw new Error(id + ": " + reason);
      if (passed < 10) throw new Error("only " + passed + " cases ran");`,
    );
    yield attempt(`conformance of ${what}`, () => runTypeScript(file, { cwd: folder, env }));
  }
}

/** The example host, three turns long, with a restart. */
async function* host({ folder, env }) {
  cpSync(new URL("minimal-host/src", EXAMPLES), join(folder, "minimal-host"), {
    recursive: true,
    filter: (path) => !path.endsWith(".test.ts"),
  });
  copyExample("minimal-engine", "engine.ts", folder);
  const file = join(folder, "three-turns.ts");
  writeFileSync(
    file,
    `import { createHost } from "./minimal-host/host.ts";
    import { createEngine as factory } from "./minimal-engine.ts";
    const sessionFile = ${JSON.stringify(join(folder, "demo.jsonl"))};
    const before = createHost({ factory, sessionFile });
    await before.ask("The parcel for Mr Ito is in locker 17.");
    await before.ask("Lunch is at noon.");
    await before.stop();
    const { ask } = createHost({ factory, sessionFile });
    const { reply } = await ask("Where is the parcel for Mr Ito?");
    if (!JSON.stringify(reply).includes("locker 17")) throw new Error("no locker in the reply");`,
  );
  yield attempt("the example minimal-host", () => runTypeScript(file, { cwd: folder, env }));
}

function copyExample(name, file, folder) {
  cpSync(new URL(`${name}/src/${file}`, EXAMPLES), join(folder, `${name}.ts`));
}

/** The installed command: its version, the doctor, and an answer that needs an earlier message. */
async function* command({ folder, env }) {
  const clew = (...args) => run(binOf(folder), args, { cwd: folder, env });
  yield attempt("clew --version", async () => {
    const { stdout } = await clew("--version");
    expectText(stdout.trim(), versionOf(folder));
  });
  yield attempt("clew chat", async () => {
    await clew(
      "chat",
      "My_cat_is_called_Minka.".replaceAll("_", process.platform === "win32" ? "_" : " "),
    );
    const { stdout } = await clew("sessions", "list");
    expectText(stdout, "main");
  });
  yield attempt("clew doctor", () => clew("doctor"));
}

/** Starts, answers, serves the page, is the only one of its home, and stops with its parent. */
async function* gateway({ folder, env }) {
  yield attempt(
    "clew start: health, page, a turn, no second one, a clean stop with its parent",
    async () => {
      const running = await startGateway({
        file: process.execPath,
        args: [mainOf(folder)],
        cwd: folder,
        env,
        channel: true,
      });
      try {
        await running.check({ version: versionOf(folder) });
        // One gateway per home, found again by its proof, also where start times cannot be told.
        const again = [mainOf(folder), "start", "--port", "0"];
        const { stderr } = await run(process.execPath, again, { cwd: folder, env, code: 1 });
        expectText(stderr, "[GATEWAY_RUNNING]");
        const reload = [mainOf(folder), "plugins", "reload"];
        expectText(
          (await run(process.execPath, reload, { cwd: folder, env })).stdout,
          "Reloaded at",
        );
      } finally {
        await running.leave();
      }
    },
  );
}

/** What is written is for its owner only. */
async function* privateFiles({ folder, env }) {
  yield attempt("the home is readable by its owner only", async () => {
    await run(binOf(folder), ["chat", "hello"], { cwd: folder, env });
    const open = [
      env.CLEW_HOME,
      ...readdirSync(env.CLEW_HOME, { recursive: true }).map((path) => join(env.CLEW_HOME, path)),
    ]
      .filter((path) => path.endsWith(".jsonl") || path === env.CLEW_HOME)
      .filter((path) => (statSync(path).mode & 0o077) !== 0);
    if (open.length > 0) throw new Error(`others may read ${open.join(", ")}`);
  });
}

async function* stopBySignal({ folder, env }) {
  yield attempt("clew start ends with 0 after SIGTERM", async () => {
    const running = await startGateway({
      file: process.execPath,
      args: [mainOf(folder)],
      cwd: folder,
      env,
    });
    await running.stop("SIGTERM");
  });
}

/** Where Node is too old for the gateway, the command says so and does nothing else. */
async function* refusal({ folder, env, names }) {
  if (!names.includes(GATEWAY) || !isBelow(process.versions.node, "24.11")) return;
  yield attempt("clew says which Node it needs", async () => {
    const options = { cwd: folder, env, code: 1 };
    const { stdout, stderr } = await run(process.execPath, [mainOf(folder), "doctor"], options);
    expectText(stderr, `needs Node 24.11 or newer; this is Node ${process.versions.node}`);
    if (stdout !== "" || existsSync(env.CLEW_HOME)) throw new Error("it went on all the same");
  });
}

/** @returns {Promise<Result>} */
async function attempt(what, act) {
  try {
    await act();
    return { what };
  } catch (error) {
    return { what, fault: error instanceof Error ? error.message : String(error) };
  }
}

function expectText(text, part) {
  if (!text.includes(part)) throw new Error(`expected "${part}" in: ${text}`);
}

const homeOf = (folder) => join(folder, "node_modules", GATEWAY);
const versionOf = (folder) => readPackage(folder).version;
const mainOf = (folder) => join(homeOf(folder), readPackage(folder).bin.clew);
const binOf = (folder) => join(folder, "node_modules/.bin/clew");
const readPackage = (folder) =>
  JSON.parse(readFileSync(join(homeOf(folder), "package.json"), "utf8"));

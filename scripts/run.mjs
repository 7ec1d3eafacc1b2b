// Runs `npm start` and `npm test`, fetching the pinned pnpm and Node if they are missing.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { callersFolder } from "./callers-folder.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const caller = callersFolder();
process.chdir(root);
const [command = "start", ...args] = process.argv.slice(2);
const say = (text) => process.stderr.write(`clew: ${text}\n`);

if (Number(process.versions.node.split(".")[0]) < 20) {
  say(
    `Node ${process.versions.node} is too old to fetch the pinned tools; install Node 20 or newer from https://nodejs.org and run this again.`,
  );
  process.exit(1);
}

const version = JSON.parse(readFileSync("package.json", "utf8")).packageManager.split("@")[1];
const tools = ensurePnpm();
const env = {
  ...process.env,
  TURBO_TELEMETRY_DISABLED: "1",
  // What Node compiled once, it need not compile for each process that tests start.
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(root, ".cache/compiled"),
  PATH: [join(root, "node_modules/.bin"), tools, process.env.PATH].join(delimiter),
};

if (!existsSync("node_modules/.modules.yaml"))
  say("installing the pinned Node and packages into node_modules (about 20 s the first time)");
runPnpm(
  ["install", "--frozen-lockfile", "--prefer-offline", "--reporter=silent"],
  "installing packages",
);

const node = existsSync("node_modules/.bin/node")
  ? join(root, "node_modules/.bin/node")
  : process.execPath;
if (command === "test") {
  runPnpm(["run", "check"], "building, checking types and linting");
  const report = ["--reporter=default", "--reporter=json", "--outputFile.json=.cache/vitest.json"];
  follow(node, ["node_modules/vitest/vitest.mjs", "run", ...report, ...args]);
} else if (command === "test:again") {
  // Only what failed, one file after the other, nothing else beside it; with the same cases.
  const report = ["--reporter=default", "--reporter=json"];
  const alone = ["--maxWorkers=1", "--outputFile.json=.cache/vitest-again.json"];
  follow(node, ["node_modules/vitest/vitest.mjs", "run", ...report, ...alone, ...args]);
} else if (command === "test:quick") {
  // Every package is a project of its folder's name; they test their sources, so
  // there is nothing to build.
  const projects = readdirSync("packages").map((name) => `--project=${name}`);
  follow(node, ["node_modules/vitest/vitest.mjs", "run", ...projects, ...args]);
} else if (command === "start") {
  runPnpm(["run", "build"], "building");
  follow(node, [join(root, "apps/gateway/dist/main.js"), "start", ...args], caller);
} else if (command === "pnpm") {
  follow(join(tools, "pnpm"), args);
} else {
  say(`unknown command "${command}"; use start, test, test:quick or pnpm.`);
  process.exit(2);
}

/** The folder that holds the pinned pnpm's executable, in .cache/ of the checkout. */
function ensurePnpm() {
  const home = join(root, ".cache", `pnpm-${version}`);
  const bin = join(home, "node_modules/.bin");
  if (!existsSync(join(bin, "pnpm"))) {
    say(`fetching pnpm ${version} into .cache`);
    const npm = spawnSync(
      "npm",
      ["install", "--prefix", home, "--no-save", "--loglevel=error", `pnpm@${version}`],
      {
        stdio: ["ignore", "ignore", "inherit"],
        env: process.env,
      },
    );
    if (npm.status !== 0)
      fail(
        `could not fetch pnpm ${version}; check the network or your npm registry setting and run this again.`,
        npm,
      );
  }
  return bin;
}

/**
 * What the last step gets: without what npm tells its scripts of this repository's .npmrc, which is
 * not meant for plugins' installs.
 */
function withoutOurNpmrc(given) {
  const ours = readFileSync(".npmrc", "utf8")
    .split("\n")
    .filter((line) => /^[a-z]/.test(line))
    .map((line) => `npm_config_${line.split("=")[0].trim().replaceAll("-", "_")}`);
  return Object.fromEntries(Object.entries(given).filter(([name]) => !ours.includes(name)));
}

function runPnpm(pnpmArgs, what) {
  const result = spawnSync(join(tools, "pnpm"), pnpmArgs, {
    stdio: ["ignore", "inherit", "inherit"],
    env,
  });
  if (result.status !== 0) fail(`${what} failed; the lines above say why.`, result);
}

function fail(text, { status, signal }) {
  if (signal) process.kill(process.pid, signal);
  say(text);
  process.exit(status || 1);
}

/**
 * Runs the last step in `cwd`, hands it our signals, and ends it when our own parent dies (npm does
 * not forward everything).
 */
function follow(file, fileArgs, cwd = root) {
  // The IPC channel closes when this process dies, however it dies: the
  // gateway stops on "disconnect".
  const child = spawn(file, fileArgs, {
    stdio: ["inherit", "inherit", "inherit", "ipc"],
    env: withoutOurNpmrc(env),
    cwd,
  });
  const parent = process.ppid;
  const watch = setInterval(() => process.ppid !== parent && child.kill("SIGTERM"), 500);
  // Ctrl-C reaches the whole group, the child included: only wait for it.
  process.on("SIGINT", () => {});
  for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.on("error", (error) => fail(`could not start ${file}: ${error.message}.`, { status: 1 }));
  child.on("exit", (code, signal) => {
    clearInterval(watch);
    if (signal) {
      process.removeAllListeners(signal);
      process.kill(process.pid, signal);
    } else process.exit(code ?? 1);
  });
}

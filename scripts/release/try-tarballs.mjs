// Tries packed tarballs with the Node that runs this file.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { CHECKS } from "./checks.mjs";
import { lacksOf } from "./lacks.mjs";
import { cleanEnvironment, run } from "./run.mjs";

const HELP = `Usage: node scripts/release/try-tarballs.mjs [FOLDER] [--json]

Installs the tarballs of FOLDER (default dist/tarballs, written by "pnpm release:pack") with npm
in an empty folder and tries them with this Node: entry points, READMEs, engines, the command.
What this Node or system lacks is printed, from scripts/release/lacks.json.
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { json: { type: "boolean" }, help: { type: "boolean" } },
});
if (values.help) {
  process.stdout.write(HELP);
  process.exit(0);
}

const from = resolve(positionals[0] ?? "dist/tarballs");
const place = { node: process.versions.node, system: process.platform };
const lacks = lacksOf(place);
const left = new Set(lacks.flatMap(({ checks = [] }) => checks));
const scratch = mkdtempSync(join(tmpdir(), "clew-tarballs-"));
const results = [];
const say = (line) => values.json || console.log(line);

try {
  const tarballs = readFileSync(join(from, "tarballs.txt"), "utf8")
    .trim()
    .split(/\r?\n/)
    .map((line) => line.split(" "))
    .map(([name, version, file]) => ({ name, version, file }));
  say(`Node ${place.node} on ${place.system}-${process.arch}, ${tarballs.length} packages`);
  for (const { what, why } of lacks) say(`not here: ${what} (${why})`);

  const env = cleanEnvironment(scratch);
  writeFileSync(join(scratch, "package.json"), '{ "private": true, "type": "module" }\n');
  const files = tarballs.map(({ file }) => join(from, file));
  await run("npm", ["install", "--prefer-offline", ...files], { cwd: scratch, env });
  const names = tarballs.map(({ name }) => name);
  for (const [check, act] of Object.entries(CHECKS)) {
    if (left.has(check)) continue;
    for await (const result of act({ folder: scratch, env, names })) {
      results.push({ check, ...result });
      say(`${result.fault === undefined ? "ok     " : "FAILED "} ${result.what}`);
      if (result.fault !== undefined) say(`        ${result.fault}`);
    }
  }
} catch (error) {
  results.push({ check: "install", what: "npm install of the tarballs", fault: error.message });
  say(`FAILED  npm install of the tarballs\n        ${error.message}`);
} finally {
  rmSync(scratch, { recursive: true, force: true, maxRetries: 5 });
}

const failed = results.filter(({ fault }) => fault !== undefined).length;
say(`${results.length - failed} passed, ${failed} failed, ${lacks.length} not here`);
if (values.json) console.log(JSON.stringify({ ...place, results, lacks }, null, 2));
process.exitCode = failed > 0 ? 1 : 0;

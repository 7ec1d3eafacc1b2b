// Puts the checkout's `clew` on the PATH, for `npm run link`.
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { callersFolder } from "./callers-folder.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const [given] = process.argv.slice(2);
const folder =
  given === undefined ? join(homedir(), ".local/bin") : resolve(callersFolder(), given);
const file = join(folder, "clew");
const MARK = "# Runs Clew from a checkout; written by its `npm run link`.";

/** In single quotes, as a shell takes any text. */
const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

function fail(text) {
  process.stderr.write(`clew: ${text}\n`);
  process.exit(1);
}

if (process.platform === "win32")
  fail("this writes a shell script, which Windows does not run; use npm run -s clew -- instead.");
const program = join(root, "apps/gateway/dist/main.js");
if (!existsSync(program)) fail("nothing is built yet; run npm start or npm test once.");
if (existsSync(file) && !readFileSync(file, "utf8").includes(MARK))
  fail(`${file} is there already and is not ours; name another folder: npm run link -- FOLDER`);
const node = existsSync(join(root, "node_modules/.bin/node"))
  ? join(root, "node_modules/.bin/node")
  : process.execPath;
mkdirSync(folder, { recursive: true });
writeFileSync(file, `#!/bin/sh\n${MARK}\nexec ${quoted(node)} ${quoted(program)} "$@"\n`);
chmodSync(file, 0o755);
const isOnPath = (process.env.PATH ?? "").split(delimiter).includes(folder);
process.stdout.write(
  isOnPath
    ? `clew is at ${file} now; removing that file undoes it.\n`
    : `clew is at ${file} now, but ${folder} is not on your PATH; add it, for example with: export PATH=${quoted(folder)}:"$PATH"\n`,
);

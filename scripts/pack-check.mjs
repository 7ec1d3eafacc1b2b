// Packs the package in the current folder as it will be published and checks the tarball.
import { spawnSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { packPackage } from "./release/pack.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
// In the checkout: whoever ends us in the middle leaves nothing outside it.
const scratch = join(root, ".cache/pack-check", basename(process.cwd()));
try {
  const { file } = await packPackage(root, relative(root, process.cwd()), scratch);
  const tarball = join(scratch, file);
  check("publint", ["--strict", tarball]);
  // A command has no types to check.
  const { exports = {} } = JSON.parse(readFileSync("package.json", "utf8"));
  if (Object.keys(exports).some((subpath) => subpath !== "./package.json"))
    check("attw", [tarball, "--profile", "esm-only", "--format", "ascii", "--no-emoji"]);
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

function check(tool, args) {
  const bin = join(root, "node_modules/.bin", tool);
  const { status, stdout, stderr } = spawnSync(bin, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${tool} refuses this package:\n${stdout}${stderr}`);
}

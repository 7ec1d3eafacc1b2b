// Checks the packed tarball of the package in the current folder with publint and are-the-types-wrong.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const bin = join(fileURLToPath(new URL("..", import.meta.url)), "node_modules/.bin");
const checks = [
  ["publint", ["--strict", "--pack", "pnpm"]],
  ["attw", ["--pack", ".", "--profile", "esm-only", "--format", "ascii", "--no-emoji"]],
];
for (const [tool, args] of checks) {
  const { status, stdout, stderr } = spawnSync(join(bin, tool), args, { encoding: "utf8" });
  if (status !== 0) {
    process.stderr.write(`${tool} refuses this package:\n${stdout}${stderr}`);
    process.exit(status ?? 1);
  }
}

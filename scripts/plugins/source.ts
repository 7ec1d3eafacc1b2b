// Brings the files of a plugin into a folder of their own.
import { existsSync } from "node:fs";
import { cp, mkdir } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
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
  if (folder !== undefined) return { spec: resolve(folder), from: "folder" };
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

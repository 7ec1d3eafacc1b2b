// Finds a client in the cache, or installs it there at its pinned version.
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { cleanEnvironment, run } from "../release/run.mjs";
import type { Client } from "./clients.ts";

const CACHE = resolve(import.meta.dirname, "../../.cache/clients");

/** The path of its command, or why it cannot be had, which is no failure of ours. */
export async function install(
  { npm, version, bin, needsScript }: Client,
  scratch: string,
): Promise<string | { missing: string }> {
  const spec = `${npm}@${version}`;
  const folder = join(CACHE, spec.replaceAll(/[^\w.-]/g, "_"));
  const command = join(folder, "node_modules/.bin", bin);
  // Written last, so that half an installation is none.
  const done = join(folder, "installed");
  if (existsSync(done)) return command;
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "package.json"), '{"private":true}');
  const options = { cwd: folder, env: cleanEnvironment(scratch) };
  try {
    await run("npm", ["install", "--ignore-scripts", spec], options);
    // Of the scripts of a whole tree the client's own is the only one that is run.
    if (needsScript) await run("npm", ["rebuild", npm], options);
    await writeFile(done, spec);
    return command;
  } catch (error) {
    return { missing: (error as Error).message };
  }
}

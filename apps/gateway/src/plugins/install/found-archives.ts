// Finds the archives that a plugin's folder depends on from where its files are copied to.
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { isRecord } from "@clew/plugin-sdk/host";
import { isInside } from "../find/manifest.ts";
import { installFailed } from "../invalid.ts";

/**
 * Runs `work` while the copy's package.json names archives beside the folder, as in a checkout, by
 * where they are; afterwards it is what its author wrote.
 */
export async function withFoundArchives(
  { folder, copy }: { folder: string; copy: string },
  work: () => Promise<void>,
): Promise<void> {
  const file = join(copy, "package.json");
  const text = readFileSync(file, "utf8");
  const found = planArchives(text, (path) => pathOf(folder, path));
  if (found === null) return work();
  writeFileSync(file, found);
  await work();
  writeFileSync(file, text);
}

/** Undefined: it lies within the folder, or is no archive. Throws where it is not there. */
function pathOf(folder: string, path: string): string | undefined {
  const place = resolve(folder, path);
  const found = statSync(place, { throwIfNoEntry: false });
  if (found === undefined)
    throw installFailed(`${folder} depends on ${place}, which is not there; make it first.`);
  return !isInside(folder, place) && found.isFile() ? place : undefined;
}

/** Pure but for `find`. Null: there is nothing to name otherwise. */
function planArchives(text: string, find: (path: string) => string | undefined): string | null {
  const whole: unknown = JSON.parse(text);
  if (!isRecord(whole) || !isRecord(whole.dependencies)) return null;
  const found = Object.entries(whole.dependencies).flatMap(([name, spec]) => {
    const place = typeof spec === "string" && spec.startsWith("file:") && find(spec.slice(5));
    return place ? [[name, `file:${place}`] as const] : [];
  });
  if (found.length === 0) return null;
  const dependencies = { ...whole.dependencies, ...Object.fromEntries(found) };
  return JSON.stringify({ ...whole, dependencies }, null, 2);
}

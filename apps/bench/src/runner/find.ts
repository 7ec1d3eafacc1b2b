// Finds the benches by their file names.
import { readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Bench } from "./bench.ts";

const SUFFIX = ".bench.ts";

/** File of each bench by name, sorted by name. */
export function findBenches(root: string): Map<string, string> {
  const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((file) =>
    file.endsWith(SUFFIX),
  );
  const named = files.map((file): [string, string] => [basename(file, SUFFIX), join(root, file)]);
  return new Map(named.sort(([a], [b]) => a.localeCompare(b)));
}

/** A bench, or one made over a folder of recorded sessions that the person names. */
export type BenchModule = Bench | ((folder: string | undefined) => Bench);

/** Loads one bench. Throws when its file exports none, or one of another name. */
export async function loadBench(name: string, file: string, folder?: string): Promise<Bench> {
  const { default: exported } = (await import(pathToFileURL(file).href)) as {
    default?: BenchModule;
  };
  const bench = typeof exported === "function" ? exported(folder) : exported;
  if (bench?.name !== name)
    throw new Error(
      `${file} must export by default a bench named "${name}"; it exports ${bench === undefined ? "none" : `"${bench.name}"`}.`,
    );
  return bench;
}

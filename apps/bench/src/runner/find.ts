// Finds the benches by their file names.
import { readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Bench } from "./bench.ts";

/** File of each bench by name, sorted by name. */
export const findBenches = (root: string): Map<string, string> => find(root, ".bench.ts");

/** File of each evaluation with options of its own, by name. */
export const findCommands = (root: string): Map<string, string> => find(root, ".command.ts");

function find(root: string, suffix: string): Map<string, string> {
  const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((file) =>
    file.endsWith(suffix),
  );
  const named = files.map((file): [string, string] => [basename(file, suffix), join(root, file)]);
  return new Map(named.sort(([a], [b]) => a.localeCompare(b)));
}

/** What a `*.command.ts` file exports: it reads its own arguments. */
export interface BenchCommand {
  /** One line, for the list. */
  description: string;
  /** Exit code. */
  main(args: readonly string[]): Promise<number>;
}

/** Loads one command. */
export async function loadCommand(file: string): Promise<BenchCommand> {
  return (await import(pathToFileURL(file).href)) as BenchCommand;
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

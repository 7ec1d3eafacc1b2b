// Finds the mutants of a kept list in a checkout that may have changed.
import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { keyOf, type Mutant, mutantsOf, type PlacedMutant } from "./generate.ts";

/** Sources of the packages' cores: no tests, kits, fixtures or files that only list exports. */
export function coreFiles(root: string): { path: string; text: string }[] {
  return globSync("packages/*/src/**/*.ts", { cwd: root })
    .filter(
      (path) => !/\.test\.ts$|\/testing\/|__fixtures__|\/src\/[^/]*(index|testing)\.ts$/.test(path),
    )
    .sort()
    .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));
}

/** Each mutant with its place, or undefined when the code it changed is gone. */
export async function placesOf(
  list: readonly Mutant[],
  root: string,
  files = coreFiles(root),
): Promise<(PlacedMutant | undefined)[]> {
  const present = Map.groupBy(await mutantsOf(files), keyOf);
  return list.map((mutant) => {
    const alike = present.get(keyOf(mutant)) ?? [];
    return (
      alike.find(({ file }) => file === mutant.file) ??
      alike.find(({ file }) => basename(file) === basename(mutant.file)) ??
      (alike.length === 1 ? alike[0] : undefined)
    );
  });
}

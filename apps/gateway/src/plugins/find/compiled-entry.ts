// Finds what an entry that is TypeScript was compiled to.
import { statSync } from "node:fs";
import { join, normalize } from "node:path";

const TYPESCRIPT = /\.[mc]?tsx?$/;

export const isTypeScript = (file: string): boolean => TYPESCRIPT.test(file);

/** Undefined: it is no TypeScript, or was not compiled to any place that is usual. */
export function compiledEntry(root: string, name: string): string | undefined {
  return compiledNames(name).find((each) =>
    statSync(join(root, each), { throwIfNoEntry: false })?.isFile(),
  );
}

/** Pure. Where compilers put it, the most usual place first. */
function compiledNames(name: string): string[] {
  if (!isTypeScript(name)) return [];
  const stem = normalize(name).replace(TYPESCRIPT, "");
  const below = stem.replace(/^src\//, "");
  const stems = [`dist/${stem}`, `dist/${below}`, `dist/src/${below}`, stem, `src/${below}`];
  return [...new Set(stems)].flatMap((each) => [".js", ".mjs", ".cjs"].map((end) => each + end));
}

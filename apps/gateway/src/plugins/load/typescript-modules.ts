// Lets modules of plugins be TypeScript that nobody compiled.
import { readFileSync, statSync } from "node:fs";
import { type LoadHookSync, stripTypeScriptTypes } from "node:module";
import { sep } from "node:path";
import { fileURLToPath } from "node:url";
import { messageOf } from "../invalid.ts";

/**
 * The `.ts` beside a `.js` that is not there: what compilers write is what TypeScript imports.
 * Undefined: there is none.
 */
export function typeScriptBeside(specifier: string, parentURL: string): string | undefined {
  if (!/^\.{1,2}\//.test(specifier) || !/\.[mc]?js$/.test(specifier)) return undefined;
  const url = new URL(specifier.replace(/js$/, "ts"), parentURL);
  return statSync(fileURLToPath(url), { throwIfNoEntry: false })?.isFile() ? url.href : undefined;
}

/** Node itself loads TypeScript, but not below a node_modules, where installed plugins are. */
export function loadTypeScript(url: string): ReturnType<LoadHookSync> | undefined {
  if (!url.startsWith("file:")) return undefined;
  const file = fileURLToPath(url);
  if (!/\.[mc]?ts$/.test(file) || !file.split(sep).includes("node_modules")) return undefined;
  const source = stripTypes(readFileSync(file, "utf8"), file);
  return { format: file.endsWith(".cts") ? "commonjs" : "module", source, shortCircuit: true };
}

function stripTypes(source: string, file: string): string {
  const original = process.emitWarning;
  // That Node calls it experimental is nothing that the plugin's user could change.
  process.emitWarning = () => {};
  try {
    return stripTypeScriptTypes(source);
  } catch (error) {
    throw new Error(
      `${file} is TypeScript that does more than name types (${messageOf(error).split("\n")[0]}); it has to be compiled, by "npm run build" in its source or by its author`,
      { cause: error },
    );
  } finally {
    process.emitWarning = original;
  }
}

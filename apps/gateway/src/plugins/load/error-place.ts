// Finds the line of a plugin's own code at which an error came up.
import { relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { ContextEngineError, isAbort } from "@clew/plugin-sdk/core";
import { isInside } from "../find/manifest.ts";
import { messageOf } from "../invalid.ts";

/** Folders of the plugins of this process, and of those that have one of their own. */
const roots = new Set<string>();

/** From now on errors tell where in `root` (absolute, links resolved) they came up. */
export const locateErrorsIn = (root: string): void => void roots.add(root);

/**
 * "dist/engine.js:12", below the plugin's folder: its innermost line, and a line of what it depends
 * on only where there is none of its own. Undefined: no stack, or no plugin's file in it. Never
 * throws.
 */
export function placeOfError(error: unknown): string | undefined {
  try {
    const stack = error instanceof Error ? String(error.stack) : "";
    const places = stack.slice(0, MOST_READ).split("\n").flatMap(placeInLine);
    return places.find((place) => !place.includes("node_modules/")) ?? places[0];
  } catch {
    return undefined;
  }
}

const MOST_READ = 16 * 1024;

function placeInLine(frame: string): string[] {
  const [, address, line] =
    /^\s+at .*?((?:file:\/\/|\/|[A-Z]:\\)[^()]*?):(\d+):\d+\)?$/.exec(frame) ?? [];
  if (address === undefined) return [];
  const [plain] = address.split("?");
  const file = address.startsWith("file:") ? fileURLToPath(plain!) : plain!;
  const root = [...roots].find((each) => isInside(each, file));
  return root === undefined ? [] : [`${relative(root, file).split(sep).join("/")}:${line}`];
}

/** Its message, and where it came up: "no such table, at dist/store.js:40". Never throws. */
export function messageAndPlace(error: unknown): string {
  const said = messageOf(error);
  // What has a code says by itself what to do.
  const place = ContextEngineError.is(error) ? undefined : placeOfError(error);
  if (place === undefined) return said;
  const [before] = said.split(`, at ${place}`);
  return `${before!.replace(/[.\s]+$/, "")}, at ${place}`;
}

/** What engine-core looks for when it tells of an error. */
const PLACE = Symbol.for("clew.error-place");

/** Runs code of a plugin, so that errors it throws can be told with their place by whoever may. */
export function withErrorPlaces<Result>(work: () => Result): Result {
  try {
    const result = work();
    if (!(result instanceof Promise)) return result;
    return result.catch((error: unknown) => {
      notePlace(error);
      throw error;
    }) as Result;
  } catch (error) {
    notePlace(error);
    throw error;
  }
}

function notePlace(error: unknown): void {
  if (!(error instanceof Error) || isAbort(error) || PLACE in error) return;
  if (ContextEngineError.is(error)) return;
  const value = placeOfError(error);
  if (value === undefined || !Object.isExtensible(error)) return;
  Object.defineProperty(error, PLACE, { value, configurable: true });
}

// Makes `openclaw/plugin-sdk` resolvable for the modules of plugins only.
import { createRequire, type ResolveHookSync, registerHooks } from "node:module";
import { sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { isInside } from "../find/manifest.ts";
import type { RunningPlugin } from "./running.ts";

const SDK = "openclaw/plugin-sdk";
const GENERATION = "clew-generation";

/**
 * Plugin folders of this process; they stay, because a module that is
 * loaded once is never unloaded.
 */
const roots = new Map<string, RunningPlugin>();
let offered: ReadonlyMap<string, string> | undefined;

/**
 * From now on modules in `root` (absolute, links resolved) see the SDK, by import, dynamic import
 * (also through `new Function`) and require. V8 compiles equal `new Function` texts once and names
 * the first one's module as the importer, so a root must outlive its plugin.
 */
export function exposeSdkTo(root: string, plugin: RunningPlugin): void {
  roots.set(root, plugin);
  if (offered !== undefined) return;
  offered = offeredModules();
  registerHooks({ resolve });
}

/**
 * The address to import an entry by; a later generation is loaded afresh, with the
 * plugin's own modules it imports.
 */
export function moduleUrl(file: string, generation: number): string {
  const url = pathToFileURL(file).href;
  if (generation === 0) return url;
  forgetRequired(file, pluginAt(url)?.root);
  return withGeneration(url, String(generation));
}

const resolve: ResolveHookSync = (specifier, context, next) => {
  const plugin = pluginAt(context.parentURL);
  if (plugin === undefined) return next(specifier, context);
  if (specifier === "openclaw" || specifier.startsWith("openclaw/")) {
    const url = offered?.get(specifier);
    if (url === undefined)
      throw notOffered(plugin.pluginId, specifier, [...(offered?.keys() ?? [])]);
    return { url, shortCircuit: true };
  }
  const found = next(specifier, context);
  const generation = new URL(context.parentURL!).searchParams.get(GENERATION);
  // A required module is cached by its file name, which a query would not be part of.
  if (
    generation === null ||
    context.conditions.includes("require") ||
    !isOwnModule(found.url, plugin.root)
  )
    return found;
  return { ...found, url: withGeneration(found.url, generation) };
};

/** The plugin whose module is innermost in a stack trace; undefined when none is. */
export function pluginOfStack(stack: string): RunningPlugin | undefined {
  for (const line of stack.split("\n"))
    for (const [root, plugin] of roots) if (line.includes(`${root}${sep}`)) return plugin;
  return undefined;
}

function pluginAt(url: string | undefined): { root: string; pluginId: string } | undefined {
  if (url?.startsWith("file:") !== true) return undefined;
  const file = fileURLToPath(url);
  for (const [root, { pluginId }] of roots) if (isInside(root, file)) return { root, pluginId };
  return undefined;
}

function offeredModules(): ReadonlyMap<string, string> {
  const require = createRequire(import.meta.url);
  const core = pathToFileURL(require.resolve("@clew/plugin-sdk/core")).href;
  return new Map([
    [SDK, core],
    [`${SDK}/core`, core],
    [
      `${SDK}/memory-host-core`,
      pathToFileURL(require.resolve("@clew/plugin-sdk/memory-host-core")).href,
    ],
    [`${SDK}/logging-core`, pathToFileURL(require.resolve("#logging-core")).href],
  ]);
}

/** In the plugin's folder, and not one of its dependencies. */
function isOwnModule(url: string, root: string): boolean {
  if (!url.startsWith("file:")) return false;
  const file = fileURLToPath(url);
  return isInside(root, file) && !file.slice(root.length).split(sep).includes("node_modules");
}

function notOffered(pluginId: string, specifier: string, offered: readonly string[]): Error {
  const message = `Plugin "${pluginId}" imports "${specifier}", which Clew does not offer; it offers ${offered.join(", ")}.`;
  // The code plugins look for when a module is optional to them.
  return Object.assign(new Error(message), { code: "ERR_MODULE_NOT_FOUND" });
}

function withGeneration(url: string, generation: string): string {
  const address = new URL(url);
  address.searchParams.set(GENERATION, generation);
  return address.href;
}

function forgetRequired(file: string, root: string | undefined): void {
  const { cache } = createRequire(import.meta.url);
  for (const known of Object.keys(cache))
    if (known === file || (root !== undefined && isInside(root, known))) delete cache[known];
}

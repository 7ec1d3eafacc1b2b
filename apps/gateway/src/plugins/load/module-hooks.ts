// Makes `openclaw/plugin-sdk` resolvable for the modules of plugins only.
import { createRequire, type LoadHookSync, type ResolveHookSync, registerHooks } from "node:module";
import { sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { isInside } from "../find/manifest.ts";
import { importedNames } from "./imported-names.ts";
import { asksForHome, ownHomeSource, ownHomeUrl } from "./own-home.ts";
import type { RunningPlugin } from "./running.ts";
import { isOfOpenClaw, sdkModule } from "./sdk-modules.ts";
import { javaScriptOf, loadTypeScript, typeScriptBeside } from "./typescript-modules.ts";

const GENERATION = "clew-generation";

/**
 * Plugin folders of this process; they stay, because a module that is
 * loaded once is never unloaded.
 */
const roots = new Map<string, ExposedPlugin>();
let isHooked = false;

/** Of each of them, the address of the module that was read last. */
const newest = new Map<string, string>();

/** Whether `pluginOfStack` can find any. */
export const arePluginsLoaded = (): boolean => roots.size > 0;

/** Its file; undefined: none was read yet. */
export function lastModuleOf(root: string): string | undefined {
  const url = newest.get(root);
  return url?.startsWith("file:") ? fileURLToPath(url.split("?", 1)[0]!) : undefined;
}

export interface ExposedPlugin extends RunningPlugin {
  /** Told of what its modules import and we have not. */
  lacks(what: string): void;
  /** What its modules find as the person's home. Absent: the person's. */
  ownHome?: string | undefined;
}

/**
 * From now on modules in `root` (absolute, links resolved) see the SDK, by import, dynamic import
 * (also through `new Function`) and require. V8 compiles equal `new Function` texts once and names
 * the first one's module as the importer, so a root must outlive its plugin.
 */
export function exposeSdkTo(root: string, plugin: ExposedPlugin): void {
  roots.set(root, plugin);
  if (isHooked) return;
  isHooked = true;
  registerHooks({ resolve, load });
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
  if (isOfOpenClaw(specifier)) return resolveSdk(plugin, specifier, context);
  const { root, ownHome } = plugin;
  if (ownHome !== undefined && asksForHome(specifier)) {
    const isRequired = context.conditions.includes("require");
    const url = ownHomeUrl({ root, ownHome, isRequired });
    return { url, format: isRequired ? "commonjs" : "module", shortCircuit: true };
  }
  const found = resolveOwn(specifier, context, next);
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

const load: LoadHookSync = (url, context, next) => {
  const plugin = pluginAt(url);
  if (plugin === undefined) return next(url, context);
  newest.set(plugin.root, url);
  const source = plugin.ownHome && ownHomeSource(url, plugin.ownHome);
  if (source) return { format: "commonjs", source, shortCircuit: true };
  return loadTypeScript(url) ?? next(url, context);
};

const resolveOwn: ResolveHookSync = (specifier, context, next) => {
  try {
    return next(specifier, context);
  } catch (error) {
    const url = typeScriptBeside(specifier, context.parentURL!);
    if (url === undefined) throw error;
    return { url, shortCircuit: true };
  }
};

function resolveSdk(
  { pluginId, lacks }: PluginAt,
  specifier: string,
  { parentURL, conditions }: Parameters<ResolveHookSync>[1],
): ReturnType<ResolveHookSync> {
  // What is required is an object: names that it lacks are undefined there.
  const names = conditions.includes("require")
    ? undefined
    : importedNames(sourceOf(parentURL!), specifier);
  const module = sdkModule(pluginId, specifier, names);
  // The code plugins look for when a module is optional to them.
  if (module.kind === "none")
    throw Object.assign(new Error(module.message), { code: "ERR_MODULE_NOT_FOUND" });
  const { url, lacking } = module;
  if (lacking.length > 0) lacks(`${lacking.join(", ")} of "${specifier}"`);
  return { url, shortCircuit: true };
}

/** The plugin whose module is innermost in a stack trace; undefined when none is. */
export function pluginOfStack(stack: string): RunningPlugin | undefined {
  for (const line of stack.split("\n"))
    for (const [root, plugin] of roots)
      if (line.includes(`${root}${sep}`) || line.includes(`${pathToFileURL(root).href}/`))
        return plugin;
  return undefined;
}

/** Nothing where the file is gone: code that was made from text may name an older importer. */
function sourceOf(url: string): string {
  try {
    return javaScriptOf(fileURLToPath(url));
  } catch {
    return "";
  }
}

export interface PluginFolder {
  /** As its manifest says, also where it has several entries. */
  pluginId: string;
  root: string;
}

/** Undefined: no code of it is in this process. `pluginId`: the plugin's, or an entry's. */
export function folderOf(pluginId: string): PluginFolder | undefined {
  for (const [root, { pluginId: id }] of roots)
    if (id === pluginId || pluginId.startsWith(`${id}/`)) return { pluginId: id, root };
  return undefined;
}

interface PluginAt extends Pick<ExposedPlugin, "pluginId" | "lacks" | "ownHome"> {
  root: string;
}

function pluginAt(url: string | undefined): PluginAt | undefined {
  if (url?.startsWith("file:") !== true) return undefined;
  const file = fileURLToPath(url);
  for (const [root, { pluginId, lacks, ownHome }] of roots)
    if (isInside(root, file)) return { root, pluginId, lacks, ownHome };
  return undefined;
}

/** In the plugin's folder, and not one of its dependencies. */
function isOwnModule(url: string, root: string): boolean {
  if (!url.startsWith("file:")) return false;
  const file = fileURLToPath(url);
  return isInside(root, file) && !file.slice(root.length).split(sep).includes("node_modules");
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

// Finds the context engines of a module, a plugin's folder or a package.
import { readFile, stat } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { ContextEngineFactory } from "../../contract/engine.ts";
import { isRecord } from "../../is-record.ts";

/** One engine that a module brings. */
export interface FoundEngine {
  /** As it is registered; of a module that only exports `createEngine`, that name. */
  id: string;
  factory: ContextEngineFactory;
}

/** Why nothing can be checked, in one sentence. */
export class NoEngine extends Error {}

/** `named`: a file, a folder or a package, as seen from `folder`; `settings`: the plugin's own. */
export async function loadEngines(
  named: string,
  folder: string,
  settings: unknown,
): Promise<FoundEngine[]> {
  const file = await fileOf(named, folder);
  let module: Record<string, unknown>;
  try {
    module = (await import(pathToFileURL(file).href)) as Record<string, unknown>;
  } catch (error) {
    throw new NoEngine(whyNotImported(file, named, messageOf(error)));
  }
  const engines = await enginesOf(module, file, settings);
  if (engines.length > 0) return engines;
  throw new NoEngine(
    `${file} brings no engine: it must export createEngine(), or a plugin whose register(api) calls api.registerContextEngine(id, factory).`,
  );
}

/** Pure. */
const whyNotImported = (file: string, named: string, message: string): string =>
  /'openclaw(?:\/|')/.test(message)
    ? `${file} imports "openclaw/plugin-sdk", which only hosts of plugins have; check it in one: clew engine check ${named}`
    : `${file} cannot be imported: ${message}`;

async function fileOf(named: string, folder: string): Promise<string> {
  const path = resolve(folder, named);
  const found = await stat(path).catch(() => null);
  if (found?.isFile()) return basename(path) === "package.json" ? entryOf(dirname(path)) : path;
  if (found?.isDirectory()) return entryOf(path);
  try {
    return createRequire(join(folder, "package.json")).resolve(named);
  } catch {
    throw new NoEngine(
      `There is no file, folder or installed package ${named}, seen from ${folder}.`,
    );
  }
}

async function entryOf(folder: string): Promise<string> {
  const text = await readFile(join(folder, "package.json"), "utf8").catch(() => {
    throw new NoEngine(
      `${folder} has no package.json that says where its engine is; name the file.`,
    );
  });
  const json: unknown = JSON.parse(text);
  const { openclaw, main } = isRecord(json) ? json : {};
  const [entry] =
    isRecord(openclaw) && Array.isArray(openclaw.extensions) ? openclaw.extensions : [];
  const file = resolve(folder, String(entry ?? main ?? "index.js"));
  if ((await stat(file).catch(() => null))?.isFile()) return file;
  throw new NoEngine(`${folder} names the entry ${file}, which is not there; build it first.`);
}

/** Those that a host would get; a module without an entry may export just `createEngine`. */
async function enginesOf(
  module: Record<string, unknown>,
  file: string,
  settings: unknown,
): Promise<FoundEngine[]> {
  const engines: FoundEngine[] = [];
  const register = registerOf(module);
  if (register === undefined) {
    const factory = module.createEngine;
    if (typeof factory !== "function" || module.default !== undefined) return [];
    return [{ id: "createEngine", factory: factory as ContextEngineFactory }];
  }
  try {
    await register(apiFor(engines, settings));
  } catch (error) {
    if (engines.length === 0)
      throw new NoEngine(`${file} cannot be registered: ${messageOf(error)}`);
  }
  return engines;
}

/** As hosts find it: a function, or an object with `register`, perhaps below `default`. */
function registerOf(module: unknown): ((api: unknown) => unknown) | undefined {
  let entry: unknown = module;
  for (let depth = 0; depth < 4; depth++) {
    if (typeof entry === "function") return entry as (api: unknown) => unknown;
    if (!isRecord(entry)) return undefined;
    const { register } = entry;
    if (typeof register === "function") return (api) => register.call(entry, api);
    entry = entry.default;
  }
  return undefined;
}

/** Takes engines; whatever else a plugin registers is of no interest here. */
function apiFor(engines: FoundEngine[], settings: unknown): unknown {
  const quiet = () => undefined;
  const known: Record<string, unknown> = {
    registrationMode: "full",
    config: {},
    pluginConfig: settings,
    logger: { info: quiet, warn: quiet, error: quiet, debug: quiet },
    // Entries adapt engines for other hosts than Clew, which are not what is judged here.
    runtime: { clew: { version: "0.0.0" } },
    registerContextEngine: (id: string, factory: ContextEngineFactory) =>
      void engines.push({ id: id.trim(), factory }),
  };
  return new Proxy(known, {
    get: (target, name) => (name in target ? Reflect.get(target, name) : quiet),
  });
}

export const messageOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split("\n")[0]!;

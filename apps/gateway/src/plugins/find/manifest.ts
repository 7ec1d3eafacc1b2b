// Reads what a plugin says about itself without running its code.

import { readFileSync, realpathSync, statSync } from "node:fs";
import { basename, extname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { type PluginManifest, PluginManifestSchema } from "@clew/plugin-sdk/host";
import { z } from "zod";
import { fromJson5 } from "../../config/from-json5.ts";
import { fileNotFound } from "../../file-not-found.ts";
import { describeBytes } from "../../limits/size.ts";
import { visible } from "../../text/visible.ts";
import { invalidPlugin, messageOf } from "../invalid.ts";
import { checkCompatibility } from "./compatibility.ts";
import { compiledEntry } from "./compiled-entry.ts";
import { schemaFault } from "./schema-cost.ts";

export const MANIFEST_FILE = "openclaw.plugin.json";

const OpenClawBlockSchema = z.looseObject({
  extensions: z.array(z.string()).optional(),
  runtimeExtensions: z.array(z.string()).optional(),
  compat: z
    .looseObject({ pluginApi: z.string().optional(), minGatewayVersion: z.string().optional() })
    .optional(),
  install: z.looseObject({ minHostVersion: z.string().optional() }).optional(),
});

const PackageSchema = z.looseObject({
  name: z.string().optional(),
  version: z.string().optional(),
  dependencies: z.record(z.string(), z.string()).optional(),
  openclaw: OpenClawBlockSchema.optional(),
});
export type PluginPackage = z.infer<typeof PackageSchema>;

export interface PluginFiles {
  /** Absolute, links resolved. */
  root: string;
  manifest: PluginManifest;
  packageJson: PluginPackage;
  /**
   * One per entry; the first keeps the manifest's id, alone or not; with several
   * each is `<id>/<file name>`.
   */
  entries: { pluginId: string; file: string }[];
}

/** `checkHost: false` reads a plugin that this host could not run. Throws PLUGIN_INVALID. */
export function readPluginFiles(folder: string, { checkHost = true } = {}): PluginFiles {
  const root = realFolder(folder);
  const manifest = readManifest(root);
  const packageJson = readPackage(root);
  if (checkHost) checkCompatibility(manifest.id, packageJson.openclaw ?? {});
  return { root, manifest, packageJson, entries: findEntries(root, manifest.id, packageJson) };
}

function realFolder(folder: string): string {
  const found = statSync(folder, { throwIfNoEntry: false });
  if (found === undefined) throw fileNotFound(folder);
  if (!found.isDirectory())
    throw invalidPlugin(
      `${folder} is not a folder, so it is not a plugin; name the folder that holds ${MANIFEST_FILE}.`,
    );
  return realpathSync(folder);
}

function readManifest(root: string): PluginManifest {
  const text = readText(root, MANIFEST_FILE);
  if (text === undefined)
    throw invalidPlugin(`${root} is not a plugin: it has no ${MANIFEST_FILE}.`);
  const parsed = PluginManifestSchema.safeParse(parse(text, `${root}/${MANIFEST_FILE}`));
  const problems = parsed.success ? problemsOf(parsed.data) : describe(parsed.error);
  if (parsed.success && problems.length === 0) return parsed.data;
  throw invalidPlugin(`The manifest ${root}/${MANIFEST_FILE} is invalid: ${problems.join("; ")}.`);
}

function problemsOf({ id, configSchema }: PluginManifest): string[] {
  const problem = problemOfId(id);
  if (problem !== null) return [`id: "${visible(id.slice(0, MAX_ID_LENGTH))}" ${problem}`];
  const fault = schemaFault(configSchema);
  return fault === null ? [] : [`its configSchema ${fault}`];
}

function readPackage(root: string): PluginPackage {
  const file = join(root, "package.json");
  const text = readText(root, "package.json");
  if (text === undefined) return {};
  const parsed = PackageSchema.safeParse(parse(text, file));
  if (parsed.success) return parsed.data;
  throw invalidPlugin(`${file} is invalid: ${describe(parsed.error).join("; ")}.`);
}

/** Plugin ids become file names and setting names. */
export function isPluginId(id: unknown): id is string {
  return typeof id === "string" && problemOfId(id) === null;
}

const MAX_ID_LENGTH = 100;

/** Names of what is beside plugins, of npm's files, and of what slots mean by a word. */
const RESERVED_IDS: ReadonlySet<string> = new Set([
  ...["installs.json", "node_modules", "package.json", "package-lock.json"],
  ...["npm-shrinkwrap.json", "legacy", "none"],
]);

function problemOfId(id: string): string | null {
  if (!/^[A-Za-z0-9._-]*$/.test(id))
    return "may hold only letters, digits, dots, dashes and underscores";
  if (!/^[A-Za-z0-9]/.test(id)) return "must begin with a letter or a digit";
  if (id.length > MAX_ID_LENGTH) return `is longer than ${MAX_ID_LENGTH} characters`;
  const isTaken =
    id in Object.prototype ||
    RESERVED_IDS.has(id.toLowerCase()) ||
    /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i.test(id) ||
    id.endsWith(".");
  return isTaken ? "cannot be used, for it means something else to a program or a system" : null;
}

const MOST_ENTRIES = 50;

/**
 * `runtimeExtensions` are the built form of `extensions`, and so is what stands where compilers put
 * it. Without either, index.js.
 */
function findEntries(
  root: string,
  id: string,
  { openclaw }: PluginPackage,
): PluginFiles["entries"] {
  const named = [...new Set(openclaw?.runtimeExtensions ?? openclaw?.extensions ?? [])];
  if (named.length > MOST_ENTRIES)
    throw invalidPlugin(
      `Plugin "${id}" names ${named.length} entries, and has at most ${MOST_ENTRIES}; join them.`,
    );
  const files = (named.length > 0 ? named : defaultEntry(root)).map((name) => ({
    name,
    file: resolve(root, compiledEntry(root, name) ?? name),
  }));
  for (const { name, file } of files) {
    if (!isInside(root, file))
      throw invalidPlugin(
        `Plugin "${id}" names the entry ${name}, which is outside its folder ${root}.`,
      );
    if (statSync(file, { throwIfNoEntry: false })?.isFile()) {
      if (isInside(root, realpathSync(file))) continue;
      throw invalidPlugin(
        `Plugin "${id}" names the entry ${name}, which leads outside its folder ${root}.`,
      );
    }
    throw invalidPlugin(
      `Plugin "${id}" names the entry ${name}, which is not in ${root}; a source checkout must be built first (often: npm install && npm run build).`,
    );
  }
  return files.map(({ file }) => ({
    pluginId: files.length === 1 ? id : `${id}/${basename(file, extname(file))}`,
    file,
  }));
}

function defaultEntry(root: string): string[] {
  const found = ["index.js", "index.mjs", "index.cjs"].find(
    (name) => statSync(join(root, name), { throwIfNoEntry: false }) !== undefined,
  );
  return [found ?? "index.js"];
}

export function isInside(root: string, file: string): boolean {
  const path = relative(root, file);
  return path === "" || (path !== ".." && !path.startsWith(`..${sep}`) && !isAbsolute(path));
}

/** A manifest with a large schema has some ten thousand. */
const MOST_BYTES = 1024 * 1024;

/** What is no file may never end, and what is elsewhere is not the plugin's to be read. */
function readText(root: string, name: string): string | undefined {
  const file = join(root, name);
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats === undefined) return undefined;
  if (!stats.isFile())
    throw invalidPlugin(`${file} is not a file, so nothing is read from it; put one there.`);
  if (!isInside(root, realpathSync(file)))
    throw invalidPlugin(`${file} is a link that leads outside its folder; put the file there.`);
  const bytes = stats.size;
  if (bytes > MOST_BYTES)
    throw invalidPlugin(
      `${file} is larger than ${describeBytes(MOST_BYTES)}, which no manifest is; make it smaller.`,
    );
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw invalidPlugin(`${file} cannot be read: ${messageOf(error)}.`, error);
  }
}

/** Whoever reads it goes down as deep. */
const MOST_DEPTH = 100;

function parse(text: string, file: string): unknown {
  try {
    const value: unknown = fromJson5(text);
    if (depthOf(value, MOST_DEPTH) <= MOST_DEPTH) return value;
  } catch (error) {
    throw invalidPlugin(
      `${file} is not JSON5: ${messageOf(error).replace(/^JSON5: /, "")}.`,
      error,
    );
  }
  throw invalidPlugin(`${file} has more than ${MOST_DEPTH} objects in one another; flatten it.`);
}

/** How many objects and lists stand in one another; no deeper than `most` + 1. */
function depthOf(value: unknown, most: number): number {
  if (typeof value !== "object" || value === null) return 0;
  if (most < 0) return 1;
  const inside = Object.values(value).map((each) => depthOf(each, most - 1));
  return 1 + inside.reduce((deepest, each) => Math.max(deepest, each), 0);
}

function describe(error: z.ZodError): string[] {
  return error.issues.map(
    ({ path, message }) => `${path.join(".") || "the whole file"}: ${message}`,
  );
}

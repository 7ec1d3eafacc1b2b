// Lays out the folder that is packed, with one file of code and what hosts read.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, extname, join, relative } from "node:path";
import { PLUGIN_API_VERSION } from "../find/compatibility.ts";
import { isInside, MANIFEST_FILE, type PluginFiles } from "../find/manifest.ts";
import { invalidPlugin } from "../invalid.ts";
import { type BesideFile, bundle } from "./bundle.ts";

/** Of the source's package.json, what says something of the packed one too. */
const KEPT = [
  ...["name", "version", "description", "keywords", "license", "author", "homepage"],
  ...["repository", "bugs", "engines"],
];

/** Throws PLUGIN_INVALID for code that cannot be one file. */
export async function layOut(files: PluginFiles, into: string): Promise<void> {
  const { root, manifest, entries } = files;
  const built: string[] = [];
  const taken = new Map<string, string>();
  for (const { file } of entries) {
    const entry = relative(root, file);
    const { code, beside } = await bundle(root, entry);
    const name = `dist/${basename(file, extname(file))}.js`;
    write(join(into, name), code ?? readFileSync(file));
    built.push(`./${name}`);
    for (const each of beside) await layBeside(each, { root, into, taken });
  }
  const source = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as object;
  write(join(into, "package.json"), `${JSON.stringify(planPackage(source, built), null, 2)}\n`);
  const beside = readdirSync(root).filter((name) => /^(?:readme|licen[cs]e)/i.test(name));
  for (const name of [MANIFEST_FILE, ...beside]) cpSync(join(root, name), join(into, name));
  for (const folder of manifest.skills ?? []) copyInside(root, folder, into);
}

/** Where the one file looks for it; code is made one file, too. */
async function layBeside(
  { from, path }: BesideFile,
  { root, into, taken }: { root: string; into: string; taken: Map<string, string> },
): Promise<void> {
  const target = join(into, "dist", path);
  const other = taken.get(target);
  if (other === from) return;
  if (other !== undefined || !isInside(into, target))
    throw invalidPlugin(
      `Its code reads ${from} as "${path}" beside it, where ${other === undefined ? "no file of the package can be" : `${other} is read, too`}; give the file a place and name of its own.`,
    );
  taken.set(target, from);
  if (!/\.[cm]?[jt]s$/.test(from)) return cpSync(join(root, from), target, { recursive: true });
  const { code, beside } = await bundle(root, from);
  write(target, code ?? readFileSync(join(root, from)));
  for (const each of beside) await layBeside(each, { root, into, taken });
}

interface Block {
  compat?: object;
  build?: object;
  runtimeExtensions?: unknown;
}

/** Pure. Without dependencies, which are in the one file now, and without scripts. */
export function planPackage(source: object, entries: readonly string[]): object {
  const { openclaw = {} } = source as { openclaw?: Block };
  const kept = Object.entries(source).filter(([key]) => KEPT.includes(key));
  const { runtimeExtensions: _built, ...block } = openclaw;
  return {
    ...Object.fromEntries(kept),
    type: "module",
    files: ["*"],
    openclaw: {
      ...block,
      extensions: entries,
      compat: { pluginApi: `>=${PLUGIN_API_VERSION}`, ...openclaw.compat },
      build: { openclawVersion: PLUGIN_API_VERSION, ...openclaw.build },
    },
  };
}

function copyInside(root: string, folder: string, into: string): void {
  const from = join(root, folder);
  if (!isInside(root, from) || !existsSync(from))
    throw invalidPlugin(`The manifest names the skills folder ${folder}, which is not in ${root}.`);
  cpSync(from, join(into, relative(root, from)), { recursive: true });
}

function write(file: string, content: string | Uint8Array): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
}

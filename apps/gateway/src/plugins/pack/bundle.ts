// Makes one file of a plugin's code, and finds what code imports from outside.
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, posix } from "node:path";
import { pathToFileURL } from "node:url";
import type * as Esbuild from "esbuild";
import { isInside } from "../find/manifest.ts";
import { invalidPlugin, messageOf, requestInvalid } from "../invalid.ts";
import type { OutsideImport } from "./judge-package.ts";
import { readBeside } from "./read-beside.ts";

/** What hosts offer, and what the SDK does without where nobody installed it. */
const LEFT_OUTSIDE = ["openclaw", "openclaw/*", "tiktoken"];

/** CommonJS in it may ask for modules of Node. */
const REQUIRE =
  'import { createRequire as clewRequire } from "node:module"; const require = clewRequire(import.meta.url);';

export interface Bundle {
  /** Null: the entry is one file already, and stays as its author built it. */
  code: Uint8Array | null;
  outside: OutsideImport[];
  /** What its code reads beside the file that it is in. */
  beside: BesideFile[];
}

export interface BesideFile {
  /** Below the plugin's folder. */
  from: string;
  /** Relative to the one file. */
  path: string;
}

/** Undefined: it is installed neither for the plugin nor for Clew. */
export async function findBundler(folder: string): Promise<typeof Esbuild | undefined> {
  for (const from of [join(folder, "package.json"), import.meta.url]) {
    const file = resolved(from);
    if (file !== undefined) return (await import(pathToFileURL(file).href)) as typeof Esbuild;
  }
  return undefined;
}

/** Throws REQUEST_INVALID where there is no bundler, PLUGIN_INVALID where it cannot be bundled. */
export async function bundle(folder: string, entry: string): Promise<Bundle> {
  const esbuild = await findBundler(folder);
  if (esbuild === undefined)
    throw requestInvalid(
      `Packing makes one file of a plugin by esbuild, which is not installed; run "npm install --save-dev esbuild" in ${folder}.`,
    );
  const built = await run(esbuild, folder, entry, { external: LEFT_OUTSIDE });
  const outside = outsideOf(built.metafile, entry);
  const [input, ...others] = Object.values(built.metafile.inputs);
  // What is packed is a module, which CommonJS is not.
  const isOne = others.length === 0 && input?.format !== "cjs" && /\.m?js$/.test(entry);
  const { contents, text } = built.outputFiles[0]!;
  const asks = /\b__require\(/.test(text);
  const code = asks ? Buffer.concat([Buffer.from(`${REQUIRE}\n`), contents]) : contents;
  const beside = Object.keys(built.metafile.inputs).flatMap((name) => besideOf(folder, name));
  return { code: isOne ? null : code, outside, beside };
}

/** What is not there may be needed by nothing that runs. */
function besideOf(folder: string, name: string): BesideFile[] {
  const file = join(folder, name);
  if (!isInside(folder, file) || !existsSync(file)) return [];
  return readBeside(readFileSync(file, "utf8"))
    .map((path) => ({ from: posix.join(posix.dirname(name), path), path }))
    .filter(({ from }) => isInside(folder, join(folder, from)) && existsSync(join(folder, from)));
}

/** Of an entry and what it imports of its own package. */
export async function importsOutside(
  esbuild: typeof Esbuild,
  folder: string,
  entry: string,
): Promise<OutsideImport[]> {
  return outsideOf((await run(esbuild, folder, entry, { packages: "external" })).metafile, entry);
}

async function run(
  esbuild: typeof Esbuild,
  folder: string,
  entry: string,
  leave: { external: string[] } | { packages: "external" },
) {
  const options = {
    ...{ absWorkingDir: folder, entryPoints: [entry], outdir: "dist", ...leave },
    ...{ format: "esm", platform: "node", target: "node22", charset: "utf8" },
    ...{ bundle: true, logLevel: "silent", legalComments: "inline" },
  } satisfies Esbuild.BuildOptions;
  try {
    return await esbuild.build({ ...options, write: false, metafile: true });
  } catch (error) {
    const [first] = (error as { errors?: Esbuild.Message[] }).errors ?? [];
    const where = first?.location ? `${first.location.file}:${first.location.line}: ` : "";
    const why = first === undefined ? messageOf(error) : `${where}${first.text}`;
    throw invalidPlugin(`${join(folder, entry)} cannot be made one file: ${why}.`, error);
  }
}

/** Pure. */
function outsideOf(metafile: Esbuild.Metafile, entry: string): OutsideImport[] {
  const imports = Object.values(metafile.outputs).flatMap((output) => output.imports);
  return imports
    .filter(({ external }) => external === true)
    .map(({ path, kind }) => ({
      ...{ from: posix.normalize(entry), specifier: path },
      isLate: kind === "dynamic-import" || kind === "require-call" || kind === "require-resolve",
    }));
}

function resolved(from: string): string | undefined {
  try {
    return createRequire(from).resolve("esbuild");
  } catch {
    return undefined;
  }
}

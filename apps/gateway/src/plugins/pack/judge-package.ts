// Judges by a package's files whether either host could install and load it.
import { isBuiltin } from "node:module";
import { posix } from "node:path";
import { type PluginManifest, PluginManifestSchema } from "@clew/plugin-sdk/host";
import JSON5 from "json5";
import semver from "semver";
import { z } from "zod";
import { PLUGIN_API_VERSION } from "../find/compatibility.ts";
import { isTypeScript } from "../find/compiled-entry.ts";
import { MANIFEST_FILE } from "../find/manifest.ts";
import { messageOf } from "../invalid.ts";
import { failure, note, type PackageFinding } from "./finding.ts";
import type { PackageFiles } from "./read-archive.ts";

/** A name that code imports and that is not among the package's own files. */
export interface OutsideImport {
  /** The file that does, below the package. */
  from: string;
  /** As the code says it. */
  specifier: string;
  /** True: while it runs, and it may do without. */
  isLate: boolean;
}

const names = z.record(z.string(), z.string()).optional();
const PackageSchema = z.looseObject({
  name: z.string().optional(),
  version: z.string().optional(),
  private: z.boolean().optional(),
  dependencies: names,
  peerDependencies: names,
  optionalDependencies: names,
  scripts: names,
  openclaw: z
    .looseObject({
      extensions: z.array(z.string()).optional(),
      compat: z.looseObject({ pluginApi: z.string().optional() }).optional(),
    })
    .optional(),
});
type Package = z.infer<typeof PackageSchema>;

/** Pure. What loading it would tell is not known here. */
export function judgePackage(
  files: PackageFiles,
  outside: readonly OutsideImport[],
): PackageFinding[] {
  const manifest = judgeManifest(files);
  const read = readJson(files, "package.json", PackageSchema);
  if (!read.ok) return [...manifest, failure(read.problem)];
  const packageJson = read.value;
  return [
    ...manifest,
    ...judgeEntries(files, packageJson),
    ...judgeDependencies(packageJson),
    ...judgeImports(outside, packageJson),
    ...judgeVersions(packageJson),
    ...judgeRest(packageJson),
  ];
}

function judgeManifest(files: PackageFiles): PackageFinding[] {
  if (!files.has(MANIFEST_FILE))
    return [
      failure(
        `It has no ${MANIFEST_FILE}, by which hosts know a plugin; write one, and name it under "files" in package.json.`,
      ),
    ];
  const read = readJson(files, MANIFEST_FILE, PluginManifestSchema);
  return read.ok ? judgeBackups(read.value) : [failure(read.problem)];
}

const BACKUP_FORM = '{ "disposition": "include", "scope": "agent", "relativePath": "…" }';
const BACKUP_KEYS = ["disposition", "relativePath", "scope"];

/** OpenClaw refuses a whole plugin for an item of another form; Clew fills in what is missing. */
function judgeBackups({ backupResources = [] }: PluginManifest): PackageFinding[] {
  return backupResources.flatMap((item, at) => {
    const isOfForm =
      Object.keys(item).sort().join() === BACKUP_KEYS.join() &&
      (item.disposition === "include" || item.disposition === "exclude") &&
      item.scope !== "" &&
      item.relativePath !== "";
    return isOfForm
      ? []
      : [
          failure(
            `${MANIFEST_FILE}: backupResources.${at} is not of the form ${BACKUP_FORM}, and OpenClaw loads no plugin with another one.`,
            ["openclaw"],
          ),
        ];
  });
}

function judgeEntries(files: PackageFiles, { openclaw }: Package): PackageFinding[] {
  const entries = openclaw?.extensions ?? [];
  if (entries.length === 0)
    return [
      failure("package.json names no openclaw.extensions, and OpenClaw installs nothing without.", [
        "openclaw",
      ]),
      ...(["index.js", "index.mjs", "index.cjs"].some((name) => files.has(name))
        ? []
        : [failure("It has neither openclaw.extensions nor an index.js to load.", ["clew"])]),
    ];
  return entries.flatMap((entry) => {
    const path = posix.normalize(entry);
    if (path.startsWith("../") || posix.isAbsolute(path))
      return [failure(`Its entry ${entry} is outside the package.`)];
    if (!files.has(path))
      return [
        failure(
          `Its entry ${entry} is not in the package; build it, and name its folder under "files" in package.json.`,
        ),
      ];
    return isTypeScript(path)
      ? [failure(`Its entry ${entry} is TypeScript, which OpenClaw does not load.`, ["openclaw"])]
      : [];
  });
}

/** What installs fetch from a registry: nothing else can be had there. */
const LOCAL = /^(?:workspace|catalog|file|link|portal):|^(?:\.{1,2})?[\\/]/;

function judgeDependencies({ dependencies = {} }: Package): PackageFinding[] {
  const local = Object.entries(dependencies).filter(([, range]) => LOCAL.test(range));
  const fetched = Object.keys(dependencies).filter((name) => !LOCAL.test(dependencies[name]!));
  return [
    ...local.map(([name, range]) =>
      failure(`It depends on ${name} as "${range}", which exists on this machine only; bundle it.`),
    ),
    ...(fetched.includes("openclaw")
      ? [note("It depends on openclaw itself, some 650 MB; hosts offer it, so it is a peer.")]
      : []),
    ...(fetched.length > 0
      ? [note(`An install fetches ${fetched.join(", ")} too; what is bundled needs no registry.`)]
      : []),
  ];
}

/** A tokeniser that the SDK loads where it is installed, and does without elsewhere. */
const OPTIONAL = new Set(["tiktoken"]);

function judgeImports(outside: readonly OutsideImport[], packageJson: Package): PackageFinding[] {
  const { dependencies, peerDependencies, optionalDependencies } = packageJson;
  const known = { ...dependencies, ...peerDependencies, ...optionalDependencies };
  const missing = outside.filter(({ specifier, isLate }) => {
    const name = packageOf(specifier);
    const isOffered = isBuiltin(specifier) || name === "openclaw" || Object.hasOwn(known, name);
    return !isOffered && !(isLate && OPTIONAL.has(name));
  });
  return missing.map(({ from, specifier, isLate }) => {
    const problem = `${from} imports "${specifier}", which is not in the package`;
    return isLate
      ? note(`${problem}; where it comes to that it fails, unless it expects to.`)
      : failure(`${problem}; bundle it.`);
  });
}

/** Pure. Of "@scope/name/sub" the first two parts. */
const packageOf = (specifier: string) =>
  specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");

/** Clew says itself what it cannot read or does not offer. */
function judgeVersions({ openclaw }: Package): PackageFinding[] {
  const range = openclaw?.compat?.pluginApi;
  if (range === undefined || semver.validRange(range) === null) return [];
  return semver.satisfies(PLUGIN_API_VERSION, range, { includePrerelease: true })
    ? []
    : [
        failure(
          `It asks for the plugin API ${range}, and OpenClaw ${PLUGIN_API_VERSION} installs nothing that does.`,
          ["openclaw"],
        ),
      ];
}

function judgeRest({ name, version, private: isPrivate, scripts = {} }: Package) {
  const unrun = ["preinstall", "install", "postinstall"].filter((script) => script in scripts);
  return [
    ...(name === undefined || version === undefined
      ? [failure("package.json has no name or no version, so that npm packs and installs nothing.")]
      : []),
    ...(version !== undefined && semver.valid(version) === null
      ? [
          failure(
            `package.json has the version "${version}", which is none that npm takes; write one like "1.0.0".`,
          ),
        ]
      : []),
    ...(unrun.length > 0
      ? [failure(`It relies on the script ${unrun.join(", ")}, which no host runs.`)]
      : []),
    ...(isPrivate === true
      ? [note("package.json says private: its archive can be installed, and npm publishes none.")]
      : []),
  ];
}

function readJson<Value>(
  files: PackageFiles,
  name: string,
  schema: z.ZodType<Value>,
): { ok: true; value: Value } | { ok: false; problem: string } {
  try {
    const parsed = schema.safeParse(JSON5.parse(files.get(name)?.toString("utf8") ?? ""));
    if (parsed.success) return { ok: true, value: parsed.data };
    const problems = parsed.error.issues.map(
      ({ path, message }) => `${path.join(".") || "the whole file"}: ${message}`,
    );
    return { ok: false, problem: `${name} is invalid: ${problems.join("; ")}.` };
  } catch (error) {
    return { ok: false, problem: `${name} cannot be read: ${messageOf(error)}.` };
  }
}

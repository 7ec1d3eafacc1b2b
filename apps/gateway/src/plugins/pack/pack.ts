// Runs `clew plugins pack`, which makes and checks a package that both hosts install.
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { readPluginFiles } from "../find/manifest.ts";
import { checkArchive } from "../install/check-archive.ts";
import { npmPack } from "../install/npm.ts";
import { planSource } from "../install/source.ts";
import { stagePlugin } from "../install/stage.ts";
import { tryPlugin } from "../install/trial.ts";
import { invalidPlugin, messageOf, requestInvalid } from "../invalid.ts";
import { kindsOf } from "../load/hook-rules.ts";
import { findBundler, importsOutside } from "./bundle.ts";
import { failure, note, type PackageFinding } from "./finding.ts";
import { judgePackage, type OutsideImport } from "./judge-package.ts";
import { layOut } from "./package-files.ts";
import { type PackageFiles, readArchive } from "./read-archive.ts";
import { planLacking } from "./read-beside.ts";

export interface PackRequest {
  /** A folder; to check also an archive. */
  path: string;
  /** Absent: beside whoever asks, by id and version. */
  out?: string | undefined;
  /** True: nothing is made; what is there is checked as npm would pack it. */
  check?: boolean | undefined;
}

export interface PackReport {
  /** Absolute; null = nothing was written. */
  file: string | null;
  bytes: number;
  /** Below the package. */
  files: string[];
  findings: PackageFinding[];
}

/**
 * Runs the plugin's code, in a process of its own. Throws PLUGIN_INVALID, REQUEST_INVALID and
 * PLUGIN_INSTALL_FAILED for what cannot be packed at all.
 */
export async function packPlugin(
  { path, out, check = false }: PackRequest,
  cwd: string,
): Promise<PackReport> {
  const source = planSource(resolve(cwd, path), cwd);
  if (source.kind === "npm" || (source.kind === "archive" && !check))
    throw requestInvalid(`${path} is packed already; add --check to see what is wrong with it.`);
  const scratch = mkdtempSync(join(tmpdir(), "clew-pack-"));
  try {
    const archive =
      source.kind === "archive" ? source.file : await packFolder(source.folder, { check, scratch });
    const { files, findings } = await checkPackage(archive, scratch);
    const isSound = findings.every(({ level }) => level !== "failure");
    const target = check || !isSound ? null : resolve(cwd, out ?? nameOf(files));
    if (target !== null) {
      mkdirSync(dirname(target), { recursive: true });
      copyFileSync(archive, target);
    }
    const { size } = statSync(archive);
    return { file: target, bytes: size, files: [...files.keys()].sort(), findings };
  } finally {
    rmSync(scratch, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function packFolder(
  folder: string,
  { check, scratch }: { check: boolean; scratch: string },
): Promise<string> {
  if (check) return npmPack(folder, join(scratch, "as-it-is"));
  const laidOut = join(scratch, "package");
  await layOut(readPluginFiles(folder), laidOut);
  return npmPack(laidOut, join(scratch, "packed"));
}

/** By what it holds first: what cannot be installed is not run. */
async function checkPackage(
  archive: string,
  scratch: string,
): Promise<{ files: PackageFiles; findings: PackageFinding[] }> {
  await checkArchive(archive);
  const files = readArchive(archive);
  const outside = await lookOutside(files, join(scratch, "unpacked"));
  const lacking = planLacking(files).map(({ from, path }) =>
    note(`${from} reads "${path}" beside it, which the package lacks: what needs it fails.`),
  );
  const findings = [...judgePackage(files, outside.imports), ...outside.findings, ...lacking];
  const isInstallable = findings.every(({ level }) => level !== "failure");
  const told = isInstallable ? await tryPackage(archive, join(scratch, "home")) : [];
  return { files, findings: [...findings, ...told] };
}

async function lookOutside(
  files: PackageFiles,
  into: string,
): Promise<{ imports: OutsideImport[]; findings: PackageFinding[] }> {
  for (const [name, content] of files) {
    mkdirSync(dirname(join(into, name)), { recursive: true });
    writeFileSync(join(into, name), content);
  }
  const esbuild = await findBundler(into);
  if (esbuild === undefined)
    return {
      imports: [],
      findings: [note("Nobody looked at its imports: esbuild is not installed beside Clew.")],
    };
  const imports: OutsideImport[] = [];
  const findings: PackageFinding[] = [];
  for (const entry of entriesOf(files))
    try {
      imports.push(...(await importsOutside(esbuild, into, entry)));
    } catch (error) {
      findings.push(failure(messageOf(error).replaceAll(`${into}/`, "")));
    }
  return { imports, findings };
}

/** Those that are there; what is wrong with the others is said elsewhere. */
function entriesOf(files: PackageFiles): string[] {
  try {
    const { openclaw } = JSON.parse(files.get("package.json")!.toString()) as {
      openclaw?: { extensions?: string[] };
    };
    const entries = openclaw?.extensions ?? ["index.js"];
    return entries.map((entry) => entry.replace(/^\.\//, "")).filter((entry) => files.has(entry));
  } catch {
    return [];
  }
}

/** As an install would, in a home that is thrown away. */
async function tryPackage(archive: string, home: string): Promise<PackageFinding[]> {
  try {
    const staged = await stagePlugin({ kind: "archive", file: archive }, home);
    const trial = await tryPlugin(staged.files, {
      ...{ home, raw: {}, entryConfig: undefined, asksStores: true },
    });
    const takesSlot = kindsOf(staged.files.manifest.kind).includes("context-engine");
    return [
      ...trial.unkeyed.map((id) =>
        failure(
          `Engine "${id}" stores turns and has no commitTurn, so that OpenClaw answers without it; add commitTurn, or store nothing.`,
          ["openclaw"],
        ),
      ),
      ...(trial.engines.length > 0 && !takesSlot
        ? [
            note(
              'It registers an engine, and the manifest has no kind "context-engine": an install does not select it.',
              ["clew"],
            ),
          ]
        : []),
      ...trial.warnings.map((warning) => note(`${warning}.`, ["clew"])),
    ];
  } catch (error) {
    return [failure(messageOf(error).replaceAll(archive, "The package"), ["clew"])];
  }
}

function nameOf(files: PackageFiles): string {
  const { name, version } = JSON.parse(files.get("package.json")!.toString()) as {
    name?: string;
    version?: string;
  };
  if (name === undefined) throw invalidPlugin("package.json has no name.");
  return `${name.replace(/^@/, "").replaceAll("/", "-")}-${version}.tgz`;
}

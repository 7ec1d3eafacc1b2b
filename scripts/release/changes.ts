// Finds packages that changed without a changeset, for `pnpm release:changes`.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual, parseArgs } from "node:util";
import { parse } from "yaml";
import { publishedManifest } from "./manifest.mjs";
import { catalogOf, type Manifest, workspacePackages } from "./packages.ts";

/** One package beside the commit it is compared with. */
export interface Comparison {
  name: string;
  directory: string;
  /** As it is now; `before` is missing for a new package. */
  manifest: Manifest;
  before?: Manifest | undefined;
  /** Changed paths of the whole repository, with slashes. */
  changed: readonly string[];
}

/**
 * Pure. The files of a package whose change its users get; none for what is private or
 * just got its new version.
 */
export function publishedChanges({ directory, manifest, before, changed }: Comparison): string[] {
  if (manifest.private === true) return [];
  if (before !== undefined && before.version !== manifest.version) return [];
  const sources = changed.filter(
    (path) =>
      path.startsWith(`${directory}/`) && isSource(path.slice(directory.length + 1), manifest),
  );
  const published = (each: Manifest | undefined) =>
    each && publishedManifest(each, { root: {}, directory });
  return isDeepStrictEqual(published(manifest), published(before))
    ? sources
    : [...sources, `${directory}/package.json`];
}

/**
 * Whether a file of a package ends up in what is published: tests, fixtures
 * and test helpers do not.
 */
function isSource(path: string, { exports = {} }: Manifest): boolean {
  if (!/^(src|web)\//.test(path) || /\.test\.tsx?$|(^|\/)__fixtures__\//.test(path)) return false;
  return !path.startsWith("src/testing/") || "./testing" in exports;
}

const BUMPS = ["major", "minor", "patch", "none"];

/**
 * Pure. The packages a changeset names with a bump there is, "none" included; one without text
 * names none.
 */
export function namedBy(changeset: string): string[] {
  const [, front = "", text = ""] = /^---\r?\n([\s\S]*?)\r?\n?---([\s\S]*)$/.exec(changeset) ?? [];
  if (text.trim() === "") return [];
  const bumps = Object.entries((parse(front) as Record<string, unknown> | null) ?? {});
  return bumps.filter(([, bump]) => BUMPS.includes(String(bump))).map(([name]) => name);
}

const withoutSpaces = (text: string) => text.replace(/\s+/g, "");

export interface Missing {
  name: string;
  files: string[];
}

/**
 * What changed in the checkout at `root` since it left `since`, uncommitted files included, and is
 * named by no changeset of its own.
 */
export function changesWithoutChangeset(root: string, since: string): Missing[] {
  const git = (...args: string[]) =>
    execFileSync("git", args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  const base = git("merge-base", since, "HEAD").trim();
  const lines = (text: string) => text.split("\0").filter((line) => line !== "");
  const changed = [
    ...lines(git("diff", "--name-only", "--no-renames", "-z", base)),
    ...lines(git("ls-files", "--others", "--exclude-standard", "-z")),
  ];
  const atBase = (path: string): string | undefined => {
    try {
      return git("show", `${base}:${path}`);
    } catch {
      return undefined;
    }
  };
  const named = new Set(
    changed
      .filter((path) => /^\.changeset\/(?!README)[^/]+\.md$/.test(path))
      .filter((path) => existsSync(join(root, path)))
      .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }))
      .filter(({ path, text }) => withoutSpaces(atBase(path) ?? "") !== withoutSpaces(text))
      .flatMap(({ text }) => namedBy(text)),
  );
  const now = catalogOf(readFileSync(join(root, "pnpm-workspace.yaml"), "utf8"));
  const then = catalogOf(atBase("pnpm-workspace.yaml") ?? "");
  return workspacePackages(root)
    .map(({ name, directory, manifest }) => {
      const before = atBase(`${directory}/package.json`);
      const files = publishedChanges({
        name,
        directory,
        manifest: withVersions(manifest, now),
        before: before === undefined ? undefined : withVersions(JSON.parse(before), then),
        changed,
      });
      return { name, files };
    })
    .filter(({ name, files }) => files.length > 0 && !named.has(name));
}

/** The manifest with the catalog's versions in place, as it is packed. */
function withVersions(manifest: Manifest, catalog: Record<string, string>): Manifest {
  const resolved = (ranges: Record<string, string>) =>
    Object.fromEntries(
      Object.entries(ranges).map(([name, range]) => [
        name,
        range === "catalog:" ? (catalog[name] ?? range) : range,
      ]),
    );
  const fields = ["dependencies", "optionalDependencies", "peerDependencies"] as const;
  return {
    ...manifest,
    ...Object.fromEntries(
      fields.flatMap((field) =>
        manifest[field] === undefined ? [] : [[field, resolved(manifest[field])]],
      ),
    ),
  };
}

export function sentenceFor({ name, files: [first, ...rest] }: Missing): string {
  const more = rest.length === 0 ? "" : ` and ${rest.length} more`;
  return (
    `${name} changed (${first}${more}) and no changeset of this branch names it; ` +
    `write one with "pnpm changeset", or name it with "none" when nobody can notice the change.`
  );
}

const HELP = `Usage: pnpm release:changes [--since REF] [--json]

Fails when what a released package publishes changed since this branch left REF (default:
origin/main, else main) and no changeset that was written or edited since names the package.
`;

function main(): number {
  const { values } = parseArgs({
    options: { since: { type: "string" }, json: { type: "boolean" }, help: { type: "boolean" } },
  });
  if (values.help) {
    process.stdout.write(HELP);
    return 0;
  }
  const since = values.since ?? ["origin/main", "main"].find(isCommit);
  if (since === undefined || !isCommit(since)) {
    process.stderr.write(
      `There is no commit ${since ?? "origin/main or main"} to compare with; ` +
        `fetch it, or name another with --since.\n`,
    );
    return 2;
  }
  const missing = changesWithoutChangeset(process.cwd(), since);
  if (values.json) console.log(JSON.stringify(missing, null, 2));
  else for (const each of missing) process.stderr.write(`${sentenceFor(each)}\n`);
  if (missing.length === 0 && !values.json)
    console.log(`Since ${since}, every change people get is named by a changeset.`);
  return missing.length === 0 ? 0 : 1;
}

function isCommit(ref: string): boolean {
  try {
    execFileSync("git", ["rev-parse", "--verify", "--quiet", `${ref}^{commit}`], {
      stdio: "ignore",
    });
    return true;
  } catch {
    return false;
  }
}

if (import.meta.main) process.exitCode = main();

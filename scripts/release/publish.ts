// Publishes by hand what the release workflow publishes, as `pnpm release:publish`.
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { parse } from "yaml";
import { repositoryOf } from "./manifest.mjs";
import { packAll } from "./pack.ts";
import { readManifest } from "./packages.ts";
import { run } from "./run.mjs";

/** The script of the workflow's publishing step, so that there is only one way to publish. */
export function publishScript(root: string): string {
  const { jobs } = parse(readFileSync(join(root, ".github/workflows/release.yml"), "utf8")) as {
    jobs: { publish: { steps: { name?: string; run?: string }[] } };
  };
  const step = jobs.publish.steps.find(({ name }) => name === "publish");
  if (step?.run === undefined) throw new Error("release.yml has no step that publishes.");
  return step.run;
}

/** Publishes what `release:pack` wrote by the workflow's own script; gives what that printed. */
export async function publishFolder(
  root: string,
  folder: string,
  { env, signal }: { env: NodeJS.ProcessEnv; signal?: AbortSignal },
): Promise<string> {
  const args = ["--noprofile", "--norc", "-e", "-o", "pipefail", "-c", publishScript(root)];
  const { stdout } = await run("bash", args, { cwd: folder, env, ...(signal && { signal }) });
  return stdout;
}

/** Pure. Why nothing may be published, in one sentence; undefined when all is well. */
export function reasonNotToPublish({
  manifest,
  changesets,
}: {
  manifest: Record<string, unknown>;
  changesets: readonly string[];
}): string | undefined {
  const { fault } = repositoryOf(manifest);
  if (fault !== undefined) return fault;
  if (changesets.length > 0)
    return `Nothing can be published: ${changesets.length} changesets wait for "release:version".`;
  return undefined;
}

export const changesetsIn = (root: string): string[] =>
  readdirSync(join(root, ".changeset")).filter((file) => /^(?!README).*\.md$/.test(file));

const HELP = `Usage: pnpm release:publish [--dry-run]

Packs every released package and publishes the versions the registry does not have yet, libraries
first, as the release workflow does. For a package's first release, which npm accepts from a person
only; log in with "npm login" before.

  --dry-run   pack, and say what would be published
`;

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      "dry-run": { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) {
    process.stdout.write(HELP);
    return 0;
  }
  const root = process.cwd();
  const reason = reasonNotToPublish({
    manifest: readManifest(root),
    changesets: changesetsIn(root),
  });
  if (reason !== undefined) {
    process.stderr.write(`${reason}\n`);
    return 1;
  }
  const into = resolve("dist/release");
  const packed = await packAll({ root, into });
  if (values["dry-run"]) {
    for (const { name, version } of packed) console.log(`${name} ${version}`);
    return 0;
  }
  process.stdout.write(await publishFolder(root, into, { env: process.env }));
  return 0;
}

if (import.meta.main) process.exitCode = await main();

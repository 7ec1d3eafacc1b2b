import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import {
  testDatabase,
  UNLESS_THERE,
  whyNoPostgres,
} from "../packages/store-postgres/src/testing/shared.ts";
import { exampleOf, examplesOf, importedBy, installedBy, needsDatabase } from "./readme.mjs";

const run = promisify(execFile);

/**
 * Where the example's imports resolve: its own package, or the gateway,
 * which depends on all of them.
 */
function homeOf(folder: string, code: string): string {
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const known = new Set([
    manifest.name,
    ...Object.keys({ ...manifest.dependencies, ...manifest.devDependencies }),
  ]);
  return importedBy(code).every((name) => known.has(name)) ? folder : "apps/gateway";
}

const readmeOf = (folder: string) => readFileSync(join(folder, "README.md"), "utf8");
const foldersIn = (group: string) => readdirSync(group).map((name) => `${group}/${name}`);

const packages = foldersIn("packages");
const [withDatabase, withExample] = partition(
  [...packages, ...foldersIn("apps/examples")].filter(
    (folder) => exampleOf(readmeOf(folder)) !== undefined,
  ),
  (folder) => needsDatabase(exampleOf(readmeOf(folder))!),
);

function partition<Item>(items: readonly Item[], isFirst: (item: Item) => boolean) {
  const groups = Map.groupBy(items, isFirst);
  return [groups.get(true) ?? [], groups.get(false) ?? []] as const;
}

describe("the README of", () => {
  it.each(packages)("%s has an example, what people get wrong, and links", (folder) => {
    const readme = readmeOf(folder);
    expect(exampleOf(readme)).toBeDefined();
    expect(readme).toMatch(/^## .*(wrong|trip|mistake)/im);
    expect(readme).toMatch(/^## Links$/m);
  });

  it.each([...packages, "apps/gateway"])("%s links to nothing that a tarball lacks", (folder) => {
    const { files } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const links = [...readmeOf(folder).matchAll(/\]\(([^)]+)\)/g)].map(([, link]) => link!);
    const isThere = (link: string) =>
      /^(?:https?:|#)/.test(link) || files.some((packed: string) => link.startsWith(packed));
    expect(links.filter((link) => !isThere(link))).toEqual([]);
  });

  it.each(foldersIn("apps/examples"))("%s has an example", (folder) => {
    expect(exampleOf(readmeOf(folder))).toBeDefined();
  });

  it.each(packages)("%s installs what its example imports, if it is published", (folder) => {
    const { name, private: hidden } = JSON.parse(
      readFileSync(join(folder, "package.json"), "utf8"),
    );
    const installed = installedBy(readmeOf(folder));
    if (hidden) expect(installed).toEqual([]);
    else {
      expect(installed).toContain(name);
      expect(installed).toEqual(
        expect.arrayContaining(importedBy(exampleOf(readmeOf(folder))!.code)),
      );
    }
  });

  it.each(withExample)("%s runs as printed", async (folder) => {
    for (const example of examplesOf(readmeOf(folder))) await runs(folder, example);
  });

  it.skipIf(whyNoPostgres() !== null).each(withDatabase)(
    `%s runs as printed, with a database ${UNLESS_THERE}`,
    async (folder) => {
      const env = { ...process.env, DATABASE_URL: await testDatabase() };
      for (const example of examplesOf(readmeOf(folder))) await runs(folder, example, env);
    },
  );
});

/** Throws where it fails, or prints something else than the README says. */
async function runs(
  folder: string,
  { code, output }: { code: string; output?: string | undefined },
  env: NodeJS.ProcessEnv = process.env,
) {
  const scratch = await mkdtemp(join(homeOf(folder, code), ".readme-"));
  try {
    const file = join(scratch, "example.ts");
    await writeFile(file, code);
    const { stdout } = await run(
      process.execPath,
      ["--conditions=@clew/source", "--disable-warning=ExperimentalWarning", file],
      { env },
    );
    if (output !== undefined) expect(stdout.trim()).toBe(output.trim());
  } finally {
    await rm(scratch, { recursive: true });
  }
}

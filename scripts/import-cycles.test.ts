import { spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, describe, expect, it } from "vitest";

/**
 * The files in `folder` that import themselves in a circle, as the
 * repository's linter settings see it.
 */
function filesInCycles(folder: string, paths: readonly string[]): string[] {
  // In the repository what git ignores is left out: other tests write and remove scratch files.
  const isRepository = folder === ".";
  const { stdout } = spawnSync(
    process.execPath,
    [
      resolve("node_modules/@biomejs/biome/bin/biome"),
      ...["lint", "--only=suspicious/noImportCycles", `--vcs-enabled=${isRepository}`],
      ...["--max-diagnostics=none", "--reporter=json", ...paths],
    ],
    { cwd: folder, encoding: "utf8", maxBuffer: 2 ** 26 },
  );
  const { diagnostics } = JSON.parse(stdout) as {
    diagnostics: { location: { path: string } }[];
  };
  return [...new Set(diagnostics.map(({ location }) => location.path))].sort();
}

const scratch = mkdtempSync(join(tmpdir(), "clew-cycles-"));
afterAll(() => rmSync(scratch, { recursive: true }));

describe("import cycles", () => {
  it("there is no import cycle, types included", () => {
    expect(filesInCycles(".", ["packages", "apps", "scripts"])).toEqual([]);
  });

  it("a cycle of types alone is found", () => {
    copyFileSync("biome.json", join(scratch, "biome.json"));
    for (const [name, other] of [
      ["one", "two"],
      ["two", "one"],
    ])
      writeFileSync(
        join(scratch, `${name}.ts`),
        `import type { ${other} } from "./${other}.ts";\nexport type ${name} = ${other}[];\n`,
      );
    expect(filesInCycles(scratch, ["."])).toEqual(["one.ts", "two.ts"]);
  });
});

import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";

const run = promisify(execFile);

/** The first TypeScript block of a README, and the output it promises if a text block follows. */
function example(readme: string): { code: string; output: string | undefined } | undefined {
  const found = /```ts\n(.*?)```(?:\s*```text\n(.*?)```)?/s.exec(readme);
  return found === null ? undefined : { code: found[1]!, output: found[2] };
}

/** Where the example's imports resolve: its own package, or the gateway, which depends on all of them. */
function homeOf(folder: string, code: string): string {
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const known = new Set([
    manifest.name,
    ...Object.keys({ ...manifest.dependencies, ...manifest.devDependencies }),
  ]);
  const ours = [...code.matchAll(/from "(@clew\/[^/"]+)/g)].map((match) => match[1]!);
  return ours.every((name) => known.has(name)) ? folder : "apps/gateway";
}

const folders = [
  ...readdirSync("packages").map((name) => `packages/${name}`),
  ...(existsSync("apps/examples")
    ? readdirSync("apps/examples").map((name) => `apps/examples/${name}`)
    : []),
];

describe("the README of", () => {
  it.each(readdirSync("packages").map((name) => `packages/${name}`))(
    "%s has an example, what people get wrong, and links",
    (folder) => {
      const readme = readFileSync(join(folder, "README.md"), "utf8");
      expect(example(readme)).toBeDefined();
      expect(readme).toMatch(/^## .*(wrong|trip|mistake)/im);
      expect(readme).toMatch(/\]\(/);
    },
  );

  it.each(
    folders.filter(
      (folder) => example(readFileSync(join(folder, "README.md"), "utf8")) !== undefined,
    ),
  )("%s runs as printed", async (folder) => {
    const { code, output } = example(readFileSync(join(folder, "README.md"), "utf8"))!;
    const scratch = await mkdtemp(join(homeOf(folder, code), ".readme-"));
    try {
      const file = join(scratch, "example.ts");
      await writeFile(file, code);
      const { stdout } = await run(process.execPath, [
        "--conditions=@clew/source",
        "--disable-warning=ExperimentalWarning",
        file,
      ]);
      if (output !== undefined) expect(stdout.trim()).toBe(output.trim());
    } finally {
      await rm(scratch, { recursive: true });
    }
  });
});

import { execFile } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Example, entryPoints, examplesIn } from "./surface.ts";

const run = promisify(execFile);

const examples = globSync("packages/*/src/**/*.ts")
  .filter((path) => !/\.test\.ts$|__fixtures__/.test(path))
  .map((path) => path.split("\\").join("/"))
  .sort()
  .flatMap((path) => examplesIn(path, readFileSync(path, "utf8")));

interface Outcome {
  printed: string;
  failure: string | null;
}

/** Runs files one after the other and tells what each printed. */
const RUNNER = `
const outcomes = [];
const write = process.stdout.write.bind(process.stdout);
for (const file of process.argv.slice(2)) {
  let printed = "";
  process.stdout.write = (chunk) => ((printed += chunk), true);
  const failure = await import(file).then(() => null, (error) => String(error?.stack ?? error));
  outcomes.push({ printed, failure });
}
write(JSON.stringify(outcomes));
`;

describe("the examples in doc comments", () => {
  it.each(entryPoints().map(({ specifier }) => specifier))("show how %s is used", (specifier) => {
    const shown = examples.some(({ specifiers }) => specifiers.includes(specifier));
    expect(shown, `give ${specifier} an @example in the doc comment of an export`).toBe(true);
  });

  const folders: string[] = [];
  let outcomes: Map<Example, Outcome>;

  beforeAll(async () => {
    const files: string[] = [];
    for (const [index, example] of examples.entries()) {
      const home = homeOf(example);
      let folder = folders.find((each) => each.startsWith(`${home}/`));
      if (folder === undefined) {
        folder = await mkdtemp(join(home, ".examples-"));
        folders.push(folder);
      }
      const file = join(folder, `${index}-${basename(example.path)}`);
      await writeFile(file, example.code);
      files.push(resolve(file));
    }
    const runner = join(folders[0]!, "run.mjs");
    await writeFile(runner, RUNNER);
    // One process for all: most of the time would be spent on starting.
    const { stdout } = await run(process.execPath, [
      "--conditions=@clew/source",
      "--disable-warning=ExperimentalWarning",
      runner,
      ...files,
    ]);
    const told = JSON.parse(stdout) as Outcome[];
    outcomes = new Map(examples.map((example, index) => [example, told[index]!]));
  });
  afterAll(async () => {
    for (const folder of folders) await rm(folder, { recursive: true });
  });

  it.each(examples.map((example) => [example.path, example] as const))(
    "%s: runs as printed",
    (_, example) => {
      const { printed, failure } = outcomes.get(example)!;
      expect(failure).toBeNull();
      if (example.output !== undefined) expect(printed.trim()).toBe(example.output.trim());
      else expect(example.code, "says neither what it prints nor what it proves").toMatch(/assert/);
    },
  );
});

/**
 * Where the example's imports resolve: its own package, or the gateway,
 * which depends on all of them.
 */
function homeOf({ path, specifiers }: Example): string {
  const own = path.split("/").slice(0, 2).join("/");
  const { name, dependencies } = JSON.parse(readFileSync(join(own, "package.json"), "utf8"));
  const known = [name, ...Object.keys(dependencies ?? {})];
  const ours = specifiers.map((specifier) => specifier.split("/").slice(0, 2).join("/"));
  return ours.every((each) => known.includes(each)) ? own : "apps/gateway";
}

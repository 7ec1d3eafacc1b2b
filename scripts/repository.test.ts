import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { generated } from "./generated.ts";
import { importsOf, nodeGlobals, readsEnvironment, whyForbidden } from "./imports.ts";
import { languageOf } from "./syntax.ts";
import { trackedFiles } from "./tracked-files.ts";
import { openingSentence, sourceFiles } from "./where.ts";

const packages = readdirSync("packages").map((name) => ({
  name,
  manifest: JSON.parse(readFileSync(`packages/${name}/package.json`, "utf8")),
}));

/** Neither a test, nor data of one, nor the settings of a tool. */
const isSource = (path: string) =>
  !/\.test\.tsx?$|__fixtures__|\.d\.m?ts$|\.config\.ts$/.test(path);

/** docs/where.md is an index, not prose. */
function isIndexLine(sentence: string): boolean {
  const prose = sentence.replaceAll(/`[^`]*`/g, "code");
  return sentence.length <= 90 && prose.endsWith(".") && !/[;:.?!] | [–—-] /.test(prose);
}

/** Except a fraction of the usual count, where one case is many. */
const setsItsOwnRuns = (code: string) =>
  /\b(?:numRuns|seed)\b(?=[:,} ])(?!: fc\.readConfigureGlobal\(\)\.numRuns! \/ \d)(?! \/ )/.test(
    code,
  ) && /\bfc\b/.test(code);

/** Tests and their helpers. */
const isForTests = (path: string) => /\/(?:testing|__fixtures__)\/|\.test\.tsx?$/.test(path);

describe("the star of packages", () => {
  it.each(packages.filter(({ name }) => name !== "plugin-sdk"))(
    "$name depends on plugin-sdk and nothing else of ours",
    ({ manifest }) => {
      const all = {
        ...manifest.dependencies,
        ...manifest.peerDependencies,
        ...manifest.optionalDependencies,
        ...manifest.devDependencies,
      };
      expect(Object.keys(all).filter((name) => name.startsWith("@clew/"))).toEqual([
        "@clew/plugin-sdk",
      ]);
    },
  );

  it("plugin-sdk depends on nothing of ours", () => {
    const { manifest } = packages.find(({ name }) => name === "plugin-sdk")!;
    expect(
      Object.keys(manifest.dependencies).filter((name: string) => name.startsWith("@clew/")),
    ).toEqual([]);
  });

  const files = trackedFiles()
    .filter((path) => /^(?:packages\/[^/]+\/src|apps\/gateway\/src)\/.*\.(?:tsx?|mts)$/.test(path))
    .map((path) => ({ path, code: readFileSync(path, "utf8"), language: languageOf(path) }));

  it("no file of a package imports what it may not, by name or path, types included", () => {
    const offenders = files.flatMap(({ path, code, language }) =>
      importsOf(code, language).flatMap((specifier) => {
        const why = whyForbidden({ path, specifier });
        return why === null ? [] : [`${path} imports ${specifier}: ${why}`];
      }),
    );
    expect(offenders).toEqual([]);
  });

  it("no core of a package uses what only Node has", () => {
    const offenders = files
      .filter(({ path }) => /^packages\/(?!lossless-engine)/.test(path) && !isForTests(path))
      .filter(({ path }) => !path.startsWith("packages/transcript-policy/src/session-file/"))
      .flatMap(({ path, code, language }) =>
        nodeGlobals(code, language).map((name) => `${path} uses ${name}`),
      );
    expect(offenders).toEqual([]);
  });

  it("five files name the process's environment, and no package does", () => {
    const naming = files
      .filter(({ path, code, language }) => !isForTests(path) && readsEnvironment(code, language))
      .map(({ path }) => path);
    expect(naming).toEqual([
      // Node's own variables say whether compiled code is kept, before anything is loaded.
      "apps/gateway/src/config/compile-cache.ts",
      // What operators set is read here.
      "apps/gateway/src/config/environment.ts",
      // Help is answered before that could be loaded.
      "apps/gateway/src/config/places.ts",
      // What a terminal says of itself is read before that could be loaded.
      "apps/gateway/src/config/terminal-variables.ts",
      // Plugins read one variable themselves, so it is set for them here.
      "apps/gateway/src/plugins/load/state-dir.ts",
    ]);
  });

  it("one file of the gateway's file store makes paths of session ids, and no package does", () => {
    const making = sourceFiles()
      .map(({ path }) => path)
      .filter((path) => /^(packages|apps\/gateway)\//.test(path))
      .filter((path) =>
        /\$\{[^}]*[sS]essionId\}\.json|\bjoin\([^()]*[sS]essionId\b/.test(
          readFileSync(path, "utf8"),
        ),
      );
    expect(making).toEqual(["apps/gateway/src/sessions/paths.ts"]);
  });

  it("in the gateway only compose.ts makes engines, and one file names the conformance kit one", () => {
    const known = ["compose.ts", "plugins/check/checked-legacy.ts"];
    const joined = sourceFiles().filter(({ path }) => {
      if (!path.startsWith("apps/gateway/src/")) return false;
      if (known.includes(path.slice("apps/gateway/src/".length))) return false;
      return /\bcreate(Legacy|Lossless)Engine\b/.test(readFileSync(path, "utf8"));
    });
    expect(joined.map(({ path }) => path)).toEqual([]);
  });
});

describe("property tests", () => {
  it("set no seed and no number of cases of their own, but explore anew in every run", () => {
    const fixed = trackedFiles()
      .filter((path) => /\.test\.tsx?$/.test(path) && path !== "scripts/repository.test.ts")
      .filter((path) => setsItsOwnRuns(readFileSync(path, "utf8")));
    expect(fixed).toEqual([]);
  });

  it.each([
    ["fc.assert(property, { numRuns: 1e4 });", true],
    ["fc.assert(property, { numRuns: RUNS });", true],
    ["fc.assert(property, { seed: 4, numRuns });", true],
    ["fc.assert(property, { numRuns: fc.readConfigureGlobal().numRuns! / 4 });", false],
    ["fc.assert(property);", false],
  ])("are recognised by %j", (code, isFixed) => {
    expect(setsItsOwnRuns(code)).toBe(isFixed);
  });
});

/** A comment of its own, or one behind code; texts and patterns hold such marks, too. */
const isMostlyComment = (line: string) =>
  /^\s*(?:\/\/|\/?\*)(?! biome-ignore)/.test(line) || /^[^"'`/]{1,99}[;,{})\]] \/\/ /.test(line);

describe("the documentation", () => {
  it("every source file opens with one sentence, of one clause and at most 90 characters", () => {
    expect(
      sourceFiles()
        .filter(({ sentence }) => sentence === undefined || !isIndexLine(sentence))
        .map(({ path, sentence }) => `${path}: ${sentence}`),
    ).toEqual([]);
  });

  it("so does every file of the scripts", () => {
    const files = trackedFiles().filter(
      (path) => /^(?:scripts|apps|packages)\/.*\.(?:ts|mts|mjs)$/.test(path) && isSource(path),
    );
    const sentences = files.map((path) => ({
      path,
      sentence: openingSentence(readFileSync(path, "utf8")),
    }));
    expect(
      sentences
        .filter(({ sentence }) => sentence === undefined || !isIndexLine(sentence))
        .map(({ path, sentence }) => `${path}: ${sentence}`),
    ).toEqual([]);
  });

  it("the list of decisions has each of them", () => {
    const list = readFileSync("docs/decisions/README.md", "utf8");
    const pages = readdirSync("docs/decisions").filter((name) => /^\d{4}-/.test(name));
    expect(pages.filter((name) => !list.includes(`](${name})`))).toEqual([]);
  });

  it("an opening is one line", () => {
    expect(openingSentence("#!/bin/sh\n// Runs it.\nrun();\n")).toBe("Runs it.");
    expect(openingSentence("// Runs it.\n// And more: it stops; then not.\nrun();\n")).toBe(
      undefined,
    );
    expect(openingSentence("run();\n")).toBe(undefined);
  });

  it.each([
    ["Which engine runs.", true],
    ["Builds messages, such as `user: hi; bye`.", true],
    ["Which engine runs", false],
    ["Which engine runs. It may fail.", false],
    ["Which engine runs; it may fail.", false],
    ["The engine: what runs.", false],
    ["Which engine runs – and why it may not.", false],
    [`Which engine ${"really ".repeat(12)}runs.`, false],
  ])("an index line is one clause: %s", (sentence, isOne) => {
    expect(isIndexLine(sentence)).toBe(isOne);
  });

  it("no file holds the marks of an unresolved merge", () => {
    const marked = trackedFiles().filter(
      (path) =>
        /\.(?:md|ts|tsx|mjs|json|yaml|yml|css)$/.test(path) &&
        /^(?:<{7}|>{7}) /m.test(readFileSync(path, "utf8")),
    );
    expect(marked).toEqual([]);
  });

  it("no comment is wider than 100 columns", () => {
    const wide = trackedFiles()
      .filter((path) => /\.(?:ts|tsx|mjs)$/.test(path) && !path.includes("__fixtures__"))
      .flatMap((path) =>
        readFileSync(path, "utf8")
          .split("\n")
          .flatMap((line, index) =>
            line.length > 100 && isMostlyComment(line) ? [`${path}:${index + 1}`] : [],
          ),
      );
    expect(wide).toEqual([]);
  });

  it.each(generated())("$path is what `pnpm run docs` writes", ({ path, text }) => {
    expect(readFileSync(path, "utf8")).toBe(text);
  });

  it("names no path or host outside the repository", () => {
    const texts = [
      "README.md",
      "AGENTS.md",
      "CONTRIBUTING.md",
      ...readdirSync("docs/decisions").map((name) => `docs/decisions/${name}`),
    ];
    for (const path of texts)
      expect(readFileSync(path, "utf8"), path).not.toMatch(
        /(^|[^A-Za-z0-9.])\/(work|tmp|root|home)\//m,
      );
  });
});

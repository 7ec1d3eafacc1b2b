import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { generated } from "./generated.ts";
import { trackedFiles } from "./tracked-files.ts";
import { sourceFiles } from "./where.ts";

const packages = readdirSync("packages").map((name) => ({
  name,
  manifest: JSON.parse(readFileSync(`packages/${name}/package.json`, "utf8")),
}));

/** docs/where.md is an index, not prose. */
function isIndexLine(sentence: string): boolean {
  const prose = sentence.replaceAll(/`[^`]*`/g, "code");
  return sentence.length <= 90 && prose.endsWith(".") && !/[;:.?!] /.test(prose);
}

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

  it("no source file of a package imports a sibling package", () => {
    const offenders = sourceFiles().flatMap(({ path }) => {
      const own = /^packages\/([^/]+)\//.exec(path)?.[1];
      if (own === undefined) return [];
      // Examples in doc comments are written as people outside write them.
      const code = readFileSync(path, "utf8").replace(/\/\*\*[\s\S]*?\*\//g, "");
      const imports = [...code.matchAll(/from "(@clew\/[^/"]+)/g)].map((match) => match[1]);
      return imports
        .filter((name) => name !== "@clew/plugin-sdk" || own === "plugin-sdk")
        .map((name) => `${path} imports ${name}`);
    });
    expect(offenders).toEqual([]);
  });

  it("two files name the process's environment, and no package does", () => {
    const naming = sourceFiles()
      .map(({ path }) => path)
      .filter((path) => /^(packages|apps\/gateway)\//.test(path) && !path.includes("/testing/"))
      .filter((path) => /\bprocess\.env\b/.test(readFileSync(path, "utf8")));
    expect(naming).toEqual([
      // What operators set is read here.
      "apps/gateway/src/config/environment.ts",
      // Plugins read one variable themselves, so it is set for them here.
      "apps/gateway/src/plugins/load/state-dir.ts",
    ]);
  });

  it("in the gateway only compose.ts makes engines", () => {
    const joined = sourceFiles().filter(({ path }) => {
      if (!path.startsWith("apps/gateway/src/") || path === "apps/gateway/src/compose.ts")
        return false;
      return /\bcreate(Legacy|Lossless)Engine\b/.test(readFileSync(path, "utf8"));
    });
    expect(joined.map(({ path }) => path)).toEqual([]);
  });
});

describe("property tests", () => {
  it("set no seed and no number of cases of their own, but explore anew in every run", () => {
    const fixed = trackedFiles()
      .filter((path) => /\.test\.tsx?$/.test(path))
      .filter((path) => /\b(?:numRuns|seed): *[\d_]+\b/.test(readFileSync(path, "utf8")));
    expect(fixed).toEqual([]);
  });
});

describe("the documentation", () => {
  it("every source file opens with one sentence, of one clause and at most 90 characters", () => {
    expect(
      sourceFiles()
        .filter(({ sentence }) => sentence === undefined || !isIndexLine(sentence))
        .map(({ path, sentence }) => `${path}: ${sentence}`),
    ).toEqual([]);
  });

  it.each([
    ["Which engine runs.", true],
    ["Builds messages, such as `user: hi; bye`.", true],
    ["Which engine runs", false],
    ["Which engine runs. It may fail.", false],
    ["Which engine runs; it may fail.", false],
    ["The engine: what runs.", false],
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
            line.length > 100 && /^\s*(?:\/\/|\/?\*)(?! biome-ignore)/.test(line)
              ? [`${path}:${index + 1}`]
              : [],
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

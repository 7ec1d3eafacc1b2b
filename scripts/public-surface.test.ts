import { globSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  declarationOf,
  entryPoints,
  exportedNames,
  exportedValues,
  reportedCode,
  unexplainedOptionals,
} from "./surface.ts";

/**
 * Exported declarations and members without a doc comment, per entry point: a number may only fall.
 */
const UNDOCUMENTED: Readonly<Record<string, number>> = {};

/** Types that a signature names and that are not for readers: a list that may only shrink. */
const UNNAMEABLE: readonly string[] = [];

const reported = entryPoints().flatMap(({ report, ...entry }) =>
  report === undefined ? [] : [{ ...entry, code: reportedCode(report) }],
);
const packages = Map.groupBy(reported, ({ directory }) => directory);

/** What a package's source files declare, tests left out. */
function sourcesOf(directory: string): { path: string; text: string }[] {
  return globSync(`${directory}/src/**/*.ts`)
    .filter((path) => !/\.test\.ts$|__fixtures__/.test(path))
    .map((path) => ({ path, text: readFileSync(path, "utf8") }));
}

describe("the API reports", () => {
  it("lack no doc comment that they did not lack before, and none for engine authors", () => {
    const lacking = reported.map(({ specifier, code }): [string, number] => [
      specifier,
      code.split("(undocumented)").length - 1,
    ]);
    expect(Object.fromEntries(lacking.filter(([, count]) => count > 0))).toEqual(UNDOCUMENTED);
    expect(Object.keys(UNDOCUMENTED)).not.toContain("@clew/plugin-sdk/core");
  });

  it.each([...packages])(
    "%s: a type that a signature names can be imported",
    (directory, entries) => {
      const exported = new Set(entries.flatMap(({ code }) => exportedNames(code)));
      const declared = new Set(
        sourcesOf(directory).flatMap(({ text }) =>
          [...text.matchAll(/^export (?:interface|type|class) (\w+)/gm)].map((match) => match[1]!),
        ),
      );
      const named = entries.flatMap(({ code }) => {
        const signatures = code.replace(/^import .*$|\/\/.*$/gm, "");
        return signatures.match(/\b[A-Z]\w+\b/g) ?? [];
      });
      const missing = [...new Set(named)].filter(
        (name) => declared.has(name) && !exported.has(name) && !UNNAMEABLE.includes(name),
      );
      expect(missing).toEqual([]);
    },
  );
});

describe("what is exported", () => {
  /**
   * Where something may be used or promised: everywhere but in its own package, and in any README.
   */
  const texts = globSync(["{packages,apps}/**/*.{ts,tsx,md}", "docs/*.md", "README.md"], {
    exclude: (name) => /node_modules|(^|\/)dist(\/|$)|\.api\.md$/.test(String(name)),
  }).map((path) => ({ path, words: new Set(readFileSync(path, "utf8").match(/\w+/g)) }));

  // Every pass has its name there for those who want just one of them.
  it.each(reported.filter(({ specifier }) => specifier !== "@clew/transcript-policy/passes"))(
    "by $specifier is used outside its package, or promised by a README",
    ({ directory, code }) => {
      const elsewhere = texts.filter(
        ({ path }) => !path.startsWith(`${directory}/`) || path.endsWith("README.md"),
      );
      const unused = exportedValues(code).filter(
        (name) => !elsewhere.some(({ words }) => words.has(name)),
      );
      expect(unused).toEqual([]);
    },
  );
});

describe("an optional member", () => {
  it.each(globSync("packages/plugin-sdk/src/contract/*.ts").filter((path) => !/test/.test(path)))(
    "of %s says what its absence means",
    (path) => {
      expect(unexplainedOptionals(readFileSync(path, "utf8"))).toEqual([]);
    },
  );

  it.each([...packages])(
    "of an interface that %s exports says what its absence means",
    (directory, entries) => {
      const names = new Set(entries.flatMap(({ code }) => exportedNames(code)));
      const unexplained = sourcesOf(directory).flatMap(({ path, text }) =>
        [...text.matchAll(/^export interface (\w+)/gm)]
          .map((match) => match[1]!)
          .filter((name) => names.has(name))
          .flatMap((name) =>
            unexplainedOptionals(declarationOf(text, name)!).map(
              (member) => `${path}: ${name}.${member}`,
            ),
          ),
      );
      expect(unexplained).toEqual([]);
    },
  );

  it.each([
    ["without a comment", "interface A {\n  b?: number;\n}"],
    ["whose comment keeps silent about it", "interface A {\n  /** Tokens. */\n  b?: number;\n}"],
    ["inside another member", "interface A {\n  /** Absent: 0. */\n  b: { c?: number };\n}"],
    ["that is a method", "interface A {\n  /** Tidies up. */\n  b?(given: string): void;\n}"],
  ])("%s is found", (_, text) => {
    expect(unexplainedOptionals(text)).toHaveLength(1);
  });

  it("that says it, and an optional parameter, are not", () => {
    const text = "interface A {\n  /** Absent: 0. */\n  b?(given?: string): void;\n}";
    expect(unexplainedOptionals(text)).toEqual([]);
  });
});

import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { ERROR_CODES } from "../packages/plugin-sdk/src/errors.ts";
import { trackedFiles } from "./tracked-files.ts";

const files = trackedFiles().filter((path) => /^(packages|apps)\/.*\.tsx?$/.test(path));
const read = (paths: readonly string[]) => paths.map((path) => readFileSync(path, "utf8"));
const isTest = (path: string) => path.endsWith(".test.ts");
// There a code is only an example.
const EXAMPLES = "packages/plugin-sdk/src/errors.test.ts";
const sources = read(files.filter((path) => path.includes("/src/") && !isTest(path)));
const tests = read(files.filter((path) => isTest(path) && path !== EXAMPLES));

describe("error codes", () => {
  it("are documented in docs/errors.md, in their order, and nothing else is", () => {
    const headings = [...readFileSync("docs/errors.md", "utf8").matchAll(/^## (.*)$/gm)];
    expect(headings.map(([, code]) => code)).toEqual([...ERROR_CODES]);
  });

  it.each(ERROR_CODES)("%s is thrown somewhere, and a test expects it", (code) => {
    const made = new RegExp(`(?:new ContextEngineError|super)\\(\\s*"${code}"`);
    expect(sources.filter((text) => made.test(text))).not.toEqual([]);
    expect(tests.filter((text) => new RegExp(`\\b${code}\\b`).test(text))).not.toEqual([]);
  });
});

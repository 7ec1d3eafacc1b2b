import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { findApi, PROVIDERS } from "../packages/plugin-sdk/src/host.ts";
import { driverFiles, hasRecordedWires, isTested } from "./drivers.ts";
import { passRules } from "./passes.ts";
import { sourceFiles } from "./where.ts";

const POLICY = "packages/transcript-policy/src";

const filesOf = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => `${folder}/${name}`);

const read = (paths: readonly string[]): string =>
  paths.map((path) => readFileSync(path, "utf8")).join("\n");

describe("a provider", () => {
  it("is described in the catalogue and nowhere else: no other file holds its address or key", () => {
    const facts = PROVIDERS.flatMap(({ hosts = [], needsKey = [] }) => [...hosts, ...needsKey]);
    const others = sourceFiles().filter(({ path }) => !path.includes("/catalogue/"));
    const told = others.flatMap(({ path }) => {
      const code = readFileSync(path, "utf8").replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
      return facts.filter((fact) => code.includes(`"${fact}`)).map((fact) => `${path}: ${fact}`);
    });
    expect(told).toEqual([]);
  });
});

describe("a policy pass", () => {
  const order = read([`${POLICY}/apply.ts`, `${POLICY}/history.ts`]);
  const tests = read(filesOf(POLICY).filter((path) => path.endsWith(".test.ts")));

  it.each(passRules())("$name has a place in the order of the passes", ({ name, isWaiting }) => {
    expect(isWaiting || new RegExp(`\\b${name}\\(`).test(order)).toBe(true);
  });

  it.each(passRules())("$name has a test of its rule", ({ name }) => {
    expect(new RegExp(`\\b${name}\\b`).test(tests)).toBe(true);
  });

  it("reports under a rule no other pass has", () => {
    const rules = passRules().map(({ rule }) => rule);
    expect(new Set(rules).size).toBe(rules.length);
  });
});

describe("a driver", () => {
  it.each(driverFiles())("of $api is known to the catalogue", ({ api, path }) => {
    expect(
      findApi(api),
      `${path}.ts: add the api to plugin-sdk/src/catalogue/apis.ts`,
    ).toBeDefined();
  });

  it.each(driverFiles().filter(({ kind }) => kind === "wire"))(
    "of $api has recorded wires",
    ({ api }) => {
      expect(hasRecordedWires(api), `drivers/__fixtures__/${api} is empty`).toBe(true);
    },
  );

  it.each(driverFiles())("of $api has a test beside it", (driver) => {
    expect(isTested(driver), `${driver.path}.test.ts is missing`).toBe(true);
  });
});

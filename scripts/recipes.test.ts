import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { workspaceTools } from "../apps/gateway/src/tools/workspace-tools.ts";
import { findApi, PROVIDERS } from "../packages/plugin-sdk/src/host.ts";
import { cliCommands } from "./commands.ts";
import { driverFiles, hasRecordedWires, isTested } from "./drivers.ts";
import { passRules } from "./passes.ts";
import { sourceFiles } from "./where.ts";

const POLICY = "packages/transcript-policy/src";

const IMPORTS = /^import [^;]*;$/gm;

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
  const order = read([`${POLICY}/apply.ts`, `${POLICY}/history.ts`]).replace(IMPORTS, "");
  const tests = read(filesOf(POLICY).filter((path) => path.endsWith(".test.ts")));

  it.each(passRules())("$name has a place in the order of the passes", ({ name, isWaiting }) => {
    expect(isWaiting || new RegExp(`\\b${name}\\b`).test(order)).toBe(true);
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

const GATEWAY = "apps/gateway/src";
const gatewayTests = read(filesOf(GATEWAY).filter((path) => path.endsWith(".test.ts")));
const gatewayReadme = readFileSync("apps/gateway/README.md", "utf8");

describe("a command", () => {
  it.each(cliCommands())("$name is run by a test", ({ name }) => {
    const words = name.split(" ").map((word) => `"${word}"`);
    const isRun = new RegExp(words.join(",\\s*")).test(gatewayTests);
    expect(isRun, `no test of apps/gateway runs clew ${name}`).toBe(true);
  });

  it.each(cliCommands())("$name says what it does in a README row", ({ name, description }) => {
    expect(description).toMatch(/^[a-z][^\n]{8,}[^.]$/);
    expect(gatewayReadme.includes(`| \`${name}`), "run `pnpm run docs`").toBe(true);
  });
});

describe("a tool", () => {
  const tools = workspaceTools(() => ".");
  const folder = filesOf(`${GATEWAY}/tools`).filter((path) => !path.endsWith(".test.ts"));

  it("is in the one list of built-in tools", () => {
    const defined = [...read(folder).matchAll(/defineTool\(\{\s*name: "(\w+)"/g)];
    expect(defined.map(([, name]) => name).sort()).toEqual(tools.map(({ name }) => name).sort());
  });

  const tests = readFileSync(`${GATEWAY}/tools/tools.test.ts`, "utf8");

  it.each(tools)("$name has a README row", ({ name }) => {
    expect(gatewayReadme.includes(`| \`${name}\` |`), `add it to "Tools"`).toBe(true);
  });

  it.each(tools)("$name is run by a test", ({ name }) => {
    const isRun = tests.includes(`call("${name}"`);
    expect(isRun, `call("${name}", …) in tools.test.ts is missing`).toBe(true);
  });
});

describe("an HTTP route", () => {
  const routes = [
    ...read(filesOf(`${GATEWAY}/http`).filter((path) => /(?<!\.test)\.ts$/.test(path))).matchAll(
      /\.(get|post|put|patch|delete)\(\s*"(\/api\/[^"]+)"/g,
    ),
  ].map(([, method, path]) => ({ method: method!.toUpperCase(), path: path! }));

  /** GET needs the address only; other methods are named within 120 characters of it. */
  const asks = (method: string, address: string) => {
    const verb = `(?:method: "${method}"|\\b${method.toLowerCase()}\\w*\\(|"${method}")`;
    return new RegExp(
      method === "GET" ? address : `${verb}[^;]{0,120}${address}|${address}[^;]{0,120}${verb}`,
    );
  };

  it("is found by this test", () => {
    expect(routes.length).toBeGreaterThan(8);
  });

  it.each(routes)("$method $path has a README row", ({ method, path }) => {
    const hasRow = new RegExp(`\\| \`${method} ${path}[?\`]`).test(gatewayReadme);
    expect(hasRow, `add it to "HTTP API"`).toBe(true);
  });

  it.each(routes)("$method $path is asked by a test", ({ method, path }) => {
    const asked = path.replaceAll(/:[a-z]+/gi, "[^/]+");
    const isAsked = asks(method, `${asked}["\`?]`).test(gatewayTests);
    expect(isAsked, `no test of apps/gateway sends ${method} to ${path}`).toBe(true);
  });
});

describe("a conformance case", () => {
  const folder = "packages/plugin-sdk/src/testing/cases";
  const index = readFileSync(`${folder}/index.ts`, "utf8");
  const lists = filesOf(folder).flatMap((path) =>
    [...readFileSync(path, "utf8").matchAll(/export const (\w+Cases)\b/g)].map(([, name]) => name!),
  );

  it.each(lists)("of %s is in the list that the kit runs", (name) => {
    expect(index.includes(`...${name},`), "add it to cases/index.ts").toBe(true);
  });
});

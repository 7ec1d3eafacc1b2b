import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { gatewayTools } from "../apps/gateway/src/recall/gateway-tools.ts";
import { workspaceTools } from "../apps/gateway/src/tools/workspace-tools.ts";
import { findApi, PROVIDERS } from "../packages/plugin-sdk/src/host.ts";
import { CONFORMANCE_CASES } from "../packages/plugin-sdk/src/testing/cases/index.ts";
import { cliCommands } from "./commands.ts";
import { driverFiles, hasRecordedWires, isTested } from "./drivers.ts";
import { passRules } from "./passes.ts";
import { httpRoutes, rowsUnder } from "./routes.ts";
import { type Language, languageOf, nodesOf, type SyntaxNode } from "./syntax.ts";
import { sourceFiles } from "./where.ts";

const POLICY = "packages/transcript-policy/src";

/** Emulators and what is measured or shown with one provider. */
const MAY_NAME_ADDRESSES = /\/testing\/|^apps\/(?:examples|bench)\//;

const filesOf = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => `${folder}/${name}`);

const read = (paths: readonly string[]): string =>
  paths.map((path) => readFileSync(path, "utf8")).join("\n");

/** Every text in a source; comments are none. */
const textsOf = (code: string, language: Language): string[] =>
  [...nodesOf(code, language)].flatMap(({ node }) =>
    node.type === "Literal" && typeof node.value === "string"
      ? [node.value]
      : node.type === "TemplateElement"
        ? [(node.value as { raw: string }).raw]
        : [],
  );

/** The names that files use, beyond importing them. */
const namesUsed = (paths: readonly string[]): Set<string> =>
  new Set(
    paths.flatMap((path) =>
      [...nodesOf(readFileSync(path, "utf8"), languageOf(path))].flatMap(({ node, above }) =>
        node.type === "Identifier" && !above[0]!.type.startsWith("Import")
          ? [String(node.name)]
          : [],
      ),
    ),
  );

describe("a provider", () => {
  const sources = sourceFiles().map(({ path }) => ({
    path,
    texts: textsOf(readFileSync(path, "utf8"), languageOf(path)),
  }));

  it("is described in the catalogue and nowhere else: no other file holds its address or key", () => {
    const facts = PROVIDERS.flatMap(({ hosts = [], needsKey = [], baseUrl }) => [
      ...[...hosts, ...needsKey],
      ...(baseUrl === undefined ? [] : [new URL(baseUrl).host]),
    ]);
    const told = sources
      .filter(({ path }) => !path.includes("/catalogue/") && !MAY_NAME_ADDRESSES.test(path))
      .flatMap(({ path, texts }) =>
        facts
          .filter((fact) => texts.some((text) => text.includes(fact)))
          .map((fact) => `${path}: ${fact}`),
      );
    expect(told).toEqual([]);
  });

  it("is named by no pass: passes read flags", () => {
    // "openai" is also what a flag says of the style of ids.
    const ids = new Set(PROVIDERS.map(({ id }) => id).filter((id) => id !== "openai"));
    const naming = sources
      .filter(({ path }) => path.startsWith(`${POLICY}/passes/`))
      .flatMap(({ path, texts }) =>
        texts.filter((text) => ids.has(text.toLowerCase())).map((text) => `${path}: ${text}`),
      );
    expect(naming).toEqual([]);
  });
});

describe("a policy pass", () => {
  const order = namesUsed(filesOf(POLICY).filter((path) => /\/(?:apply|history)\.ts$/.test(path)));
  const tests = namesUsed(filesOf(POLICY).filter((path) => path.endsWith(".test.ts")));

  it.each(passRules())("$name has a place in the order of the passes", ({ name, isWaiting }) => {
    expect(isWaiting || order.has(name)).toBe(true);
  });

  it.each(passRules())("$name has a test of its rule", ({ name }) => {
    expect(tests.has(name)).toBe(true);
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
const gatewayTestFiles = filesOf(GATEWAY).filter((path) => path.endsWith(".test.ts"));
const gatewayTests = read(gatewayTestFiles);

const gatewayReadme = readFileSync("apps/gateway/README.md", "utf8");

/** What the arguments of `clew(…)`, or a row of a table of such, would be on a command line. */
function argumentsIn(node: SyntaxNode, parent: SyntaxNode | undefined): string[] {
  if (node.type === "TemplateElement")
    return (node.value as { raw: string }).raw.split("\n").filter((line) => line.includes(" "));
  const isRow = /^(?:ArrayExpression|VariableDeclarator)$/.test(parent?.type ?? "");
  const isGiven = /^(?:clew|runClew|startClew)$/.test(calleeOf(parent));
  const items =
    node.type === "ArrayExpression" && (isRow || isGiven)
      ? node.elements
      : calleeOf(node) === "clew"
        ? node.arguments
        : [];
  const words = (items as (SyntaxNode | null)[]).map((item) =>
    item?.type === "Literal" ? String(item.value) : "…",
  );
  return words.length === 0 ? [] : [words.join(" ")];
}

const calleeOf = (node: SyntaxNode | undefined): string =>
  node?.type === "CallExpression" ? String((node.callee as SyntaxNode).name) : "";

describe("a command", () => {
  const ran = gatewayTestFiles.flatMap((path) =>
    [...nodesOf(readFileSync(path, "utf8"))].flatMap(({ node, above }) =>
      argumentsIn(node, above[0]),
    ),
  );

  it.each(cliCommands())("$name is run by a test", ({ name }) => {
    const isRun = ran.some((words) => `${words} `.startsWith(`${name} `));
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

  const called = [...nodesOf(readFileSync(`${GATEWAY}/tools/tools.test.ts`, "utf8"))].flatMap(
    ({ node }) => (calleeOf(node) === "call" ? [(node.arguments as SyntaxNode[])[0]?.value] : []),
  );

  it("has a README row if it exists, and no row stays behind", () => {
    expect(rowsUnder(gatewayReadme, "Tools").sort()).toEqual(gatewayTools().sort());
  });

  it.each(tools)("$name is run by a test", ({ name }) => {
    expect(called.includes(name), `call("${name}", …) in tools.test.ts is missing`).toBe(true);
  });
});

describe("an HTTP route", () => {
  const routes = httpRoutes();

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

  it("has a README row if it exists, and no row stays behind", () => {
    const rows = rowsUnder(gatewayReadme, "HTTP API").map((row) => row.replace(/\?.*$/, ""));
    expect(rows.sort()).toEqual(routes.map(({ method, path }) => `${method} ${path}`).sort());
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

  const contract = read(filesOf("packages/plugin-sdk/src/contract").filter(isDocumented))
    .replaceAll(/^\s*\/?\*+\/?/gm, "")
    .replaceAll(/\s+/g, " ");

  it.each(CONFORMANCE_CASES)("$id tests a rule that the contract states", ({ rule }) => {
    expect(contract.includes(rule), `src/contract/ lacks: ${rule}`).toBe(true);
  });
});

const isDocumented = (path: string) => /(?<!\.test)\.ts$/.test(path);

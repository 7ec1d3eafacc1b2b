import { describe, expect, it } from "vitest";
import { importsOf, nodeGlobals, readsEnvironment, whyForbidden } from "./imports.ts";

describe("the imports of a file", () => {
  it.each([
    'import { a } from "./x.ts";',
    'import type { A } from "./x.ts";',
    'import "./x.ts";',
    "import { a } from './x.ts';",
    'export { a } from "./x.ts";',
    'export type { A } from "./x.ts";',
    'export * from "./x.ts";',
    'const a = () => import("./x.ts");',
    'type A = import("./x.ts").B;',
    'type A = typeof import("./x.ts");',
    'const a = require("./x.ts");',
    'import a = require("./x.ts");',
  ])("are found in %j", (code) => {
    expect(importsOf(code)).toEqual(["./x.ts"]);
  });

  it("are not found in comments and texts", () => {
    expect(importsOf('/** import "./x.ts" */\nconst a = \'import "./x.ts"\';')).toEqual([]);
  });
});

describe("what a package imports", () => {
  const CORE = "packages/engine-core/src/turn/x.ts";

  it.each([
    [CORE, "../../../legacy-engine/src/index.ts"],
    [CORE, "../../../plugin-sdk/src/core.ts"],
    [CORE, "../../../../apps/gateway/src/clock.ts"],
    [CORE, "@clew/legacy-engine"],
    [CORE, "@clew/legacy-engine/parts"],
    ["packages/plugin-sdk/src/x.ts", "@clew/plugin-sdk/core"],
    ["packages/engine-core/src/x.test.ts", "@clew/legacy-engine"],
    [CORE, "node:process"],
    [CORE, "process"],
    [CORE, "fs"],
    [CORE, "node:fs/promises"],
    ["packages/providers/src/drivers/x.ts", "node:async_hooks"],
    ["packages/transcript-policy/src/passes/x.ts", "node:fs"],
    ["packages/legacy-engine/src/x.ts", "node:sqlite"],
  ])("is refused: in %s, %s", (path, specifier) => {
    expect(whyForbidden({ path, specifier })).not.toBeNull();
  });

  it.each([
    [CORE, "./y.ts"],
    [CORE, "../registry.ts"],
    [CORE, "@clew/plugin-sdk/core"],
    [CORE, "zod"],
    [CORE, "node:async_hooks"],
    ["packages/transcript-policy/src/session-file/lines.ts", "node:fs"],
    ["packages/lossless-engine/src/store/open.ts", "node:sqlite"],
    ["packages/providers/src/testing/emulator.ts", "node:http"],
    ["packages/providers/src/stream.test.ts", "node:net"],
    ["apps/gateway/src/compose.ts", "@clew/legacy-engine"],
  ])("is its own affair: in %s, %s", (path, specifier) => {
    expect(whyForbidden({ path, specifier })).toBeNull();
  });
});

describe("what only Node has", () => {
  it("is found however it is named", () => {
    expect(nodeGlobals("export const { env } = process;")).toEqual(["process"]);
    expect(nodeGlobals("globalThis.process.pid")).toEqual(["process"]);
    expect(nodeGlobals("const a: Buffer = Buffer.alloc(1);")).toEqual(["Buffer"]);
    expect(nodeGlobals("job.process({ process: 1 });")).toEqual([]);
  });

  it.each([
    "process.env.HOME",
    'process["env"]',
    "const { env } = process;",
    "globalThis.process.env",
    'import { env } from "node:process";',
    'import process from "process";',
  ])("gives the environment by %j", (code) => {
    expect(readsEnvironment(code)).toBe(true);
  });

  it.each(["process.pid", "environment.env", "const { a } = job;"])(
    "does not give it by %j",
    (code) => {
      expect(readsEnvironment(code)).toBe(false);
    },
  );
});

// Plugins whose entries are TypeScript.
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { temporaryHome } from "../../testing/home.ts";
import { collectLog, writePlugin } from "../../testing/plugins.ts";
import { createPluginHost } from "../host.ts";

/** A plugin whose entry is `./plugin.ts`, in a folder below the home. */
async function load(files: Record<string, string>, folder: string, extensions = ["./plugin.ts"]) {
  const home = await temporaryHome();
  const root = writePlugin(join(home, folder), {
    packageJson: { openclaw: { extensions } },
    code: "throw new Error('not the entry');",
    files,
  });
  const plugins = { load: { paths: [root] } };
  const host = await createPluginHost({ home, plugins, raw: { plugins }, log: collectLog() });
  onTestFinished(() => host.close());
  return host.records()[0]!;
}

const registers = (engineId: string) =>
  `export default (api) => api.registerContextEngine("${engineId}", () => 1);`;
const plain = (engineId: string) =>
  `{ register: (api: any) => api.registerContextEngine("${engineId}", () => 1) };`;
const TYPED = `import { name, type Engine } from "./name.js";
  const engine: Engine = { name };
  export default (api: { registerContextEngine(id: string, make: () => unknown): void }) =>
    api.registerContextEngine(engine.name, () => 1);`;
const NAMED = `export interface Engine { name: string }
  export const name: string = "typed";`;

describe("an entry that is TypeScript", () => {
  it.each([
    ["./plugin.ts", "dist/plugin.js"],
    ["./src/index.ts", "dist/index.js"],
    ["./src/index.ts", "dist/src/index.js"],
    ["./plugin.ts", "src/plugin.js"],
    ["./src/plugin.mts", "dist/plugin.mjs"],
  ])("%s is %s, where that was compiled from it", async (entry, compiled) => {
    const record = await load({ [compiled]: registers("compiled") }, "one", [entry]);
    expect(record).toMatchObject({ status: "loaded", engines: ["compiled"] });
  });

  it.each(["sources/small", "plugins/node_modules/small"])(
    "and was not compiled is loaded as it is, in %s too",
    async (folder) => {
      const record = await load({ "plugin.ts": TYPED, "name.ts": NAMED }, folder);
      expect(record).toMatchObject({ reason: null, engines: ["typed"] });
    },
  );

  const DOES_MORE: [string, Record<string, string>][] = [
    [
      "parameter properties",
      {
        "plugin.ts": `import { define } from "./define.js";
          class Plugin { constructor(private readonly name: string) {}
            register = (api: any) => api.registerContextEngine(this.name, () => 1); }
          export default define(new Plugin("typed"));`,
        "define.ts": "export const define = <T>(plugin: T): T => plugin;",
      },
    ],
    [
      "enums and namespaces",
      {
        "plugin.ts": `import { Names } from "./names.js";
          namespace Made { export const engine = () => 1; }
          export default (api: any) => api.registerContextEngine(Names.Typed, Made.engine);`,
        "names.ts": 'export enum Names { Typed = "typed" }',
      },
    ],
    [
      "imports of what are only types, in no word different from others",
      {
        "plugin.ts": `import { Engine, name } from "./engine.js";
          import { OpenClawPluginApi, NoSuchThing } from "openclaw/plugin-sdk";
          const make = (): Engine | NoSuchThing => ({});
          export default (api: OpenClawPluginApi) => api.registerContextEngine(name, make as any);`,
        "engine.ts": 'export interface Engine {} export const name = "typed";',
      },
    ],
    [
      "the older way to import and export",
      {
        "plugin.ts": `import os = require("node:os");
          const register = (api: any) => api.registerContextEngine(os.EOL && "typed", () => 1);
          export { register };`,
      },
    ],
    ["the older way alone", { "plugin.ts": `export = ${plain("typed")}` }],
    ["CommonJS", { "plugin.cts": `module.exports = ${plain("typed")}` }],
  ];

  describe.each(["sources/small", "plugins/node_modules/small"])("in %s", (folder) => {
    it.each(DOES_MORE)("is loaded with %s", async (_, files) => {
      const record = await load(files, folder, [`./${Object.keys(files)[0]}`]);
      expect(record).toMatchObject({ reason: null, engines: ["typed"], diagnostics: [] });
    });
  });

  it.each([
    [
      "./plugin.ts",
      "@sealed\nexport default class { register() {} }",
      "it holds the decorator @sealed",
    ],
    ["./plugin.ts", "\nexport const: = 3;", "line 2: "],
    ["./plugin.tsx", "export default <div/>;", "it holds JSX"],
  ])("(%s) and needs a compiler is refused in one sentence: %j", async (entry, code, why) => {
    const folder = "plugins/node_modules/small";
    const { status, reason } = await load({ [entry]: code }, folder, [entry]);
    expect(status).toBe("error");
    expect(reason).toContain(` is TypeScript that cannot be loaded as it is (${why}`);
    expect(reason).toMatch(/; it has to be compiled, .*\.$/);
    expect(reason).not.toContain("\n");
  });

  it("and is neither there nor compiled is named", async () => {
    expect((await load({}, "one")).reason).toMatch(
      /names the entry \.\/plugin\.ts, which is not in/,
    );
  });
});

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

  it("and needs a compiler is refused in one sentence", async () => {
    const code =
      "export default class { constructor(private readonly n: number) {} register() {} }";
    const { status, reason } = await load({ "plugin.ts": code }, "plugins/node_modules/small");
    expect(status).toBe("error");
    expect(reason).toMatch(
      /plugin\.ts is TypeScript that does more than name types \(.*it has to be compiled/,
    );
    expect(reason).not.toContain("\n");
  });

  it("and is neither there nor compiled is named", async () => {
    expect((await load({}, "one")).reason).toMatch(
      /names the entry \.\/plugin\.ts, which is not in/,
    );
  });
});

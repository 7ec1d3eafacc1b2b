import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { ContextEngineFactory } from "@clew/plugin-sdk/core";
import { PluginManifestSchema } from "@clew/plugin-sdk/host";
import { user } from "@clew/plugin-sdk/testing";
import { describe, expect, it } from "vitest";
import plugin, { createLosslessEngine, LOSSLESS_ENGINE_ID } from "./index.ts";
import { withIds } from "./testing/stored.ts";
import { temporaryFolder } from "./testing/temporary-folder.ts";

const read = (file: string) =>
  JSON.parse(readFileSync(join(import.meta.dirname, "..", file), "utf8"));

describe("the plugin", () => {
  it("is called the same in its manifest, its entry and its engine", () => {
    const manifest = PluginManifestSchema.parse(read("openclaw.plugin.json"));
    expect([manifest.id, plugin.id, createLosslessEngine().info.id]).toEqual([
      LOSSLESS_ENGINE_ID,
      LOSSLESS_ENGINE_ID,
      "lossless",
    ]);
    expect([manifest.kind, plugin.kind]).toEqual(["context-engine", "context-engine"]);
  });

  it("keeps a database that is named relative to the agent's folder there, and takes no URL", async () => {
    const [agentDir, elsewhere] = [temporaryFolder(), temporaryFolder()];
    const filesOf = async (databasePath: string) => {
      let factory: ContextEngineFactory | undefined;
      plugin.register({
        pluginConfig: { databasePath },
        // As hosts do: from the plugin's own folder on.
        resolvePath: (path: string) => resolve(elsewhere, path.replace(/^~/, elsewhere)),
        registerContextEngine: (_id: string, made: ContextEngineFactory) => {
          factory = made;
        },
        registerTool: () => {},
        registerCommand: () => {},
      } as never);
      const engine = await factory!({ agentDir } as never);
      const session = { sessionId: "s", sessionKey: "agent:main:s" };
      await engine.ingest({ ...session, message: withIds([user("kept")])[0]! });
      await engine.dispose?.();
    };
    await filesOf("rel/one.db");
    await filesOf("~/two.db");
    await filesOf(join(elsewhere, "three.db"));
    expect(readdirSync(join(agentDir, "rel"))).toContain("one.db");
    expect(readdirSync(elsewhere).sort()).toEqual(["three.db", "two.db"]);

    const { pattern } = read("openclaw.plugin.json").configSchema.properties.databasePath;
    for (const path of [":memory:", "file:some.db", ""])
      expect(path).not.toMatch(new RegExp(pattern));
    for (const path of ["rel/one.db", "~/two.db", "/three.db"])
      expect(path).toMatch(new RegExp(pattern));
  });

  it("has one list of settings: manifest, engine, what each does and when to change it", () => {
    const { properties } = read("openclaw.plugin.json").configSchema;
    const names = Object.keys(properties);
    const unknown = () => createLosslessEngine({}, { nothing: true } as never);
    expect(unknown).toThrow(new RegExp(`it has: ${names.join(", ")}\\.$`));
    const readme = readFileSync(join(import.meta.dirname, "..", "README.md"), "utf8");
    const rowsBelow = (heading: string) => {
      const [, table = ""] = readme.split(`| option | ${heading} |\n| --- | --- |\n`);
      const rows = table.split("\n\n", 1)[0]!.split("\n");
      return new Map(
        rows.map((row) => /^\| `(\w+)` \| (.{20,}) \|$/.exec(row)?.slice(1) as [string, string]),
      );
    };
    const [does, when] = [rowsBelow("what it does"), rowsBelow("change it when")];
    expect([...does.keys()]).toEqual(names);
    for (const name of names) {
      expect(when.get(name), `when to change ${name}`).toBeDefined();
      expect(properties[name].description).toMatch(/\.$/);
    }
  });

  it("is built where its package says, and its package holds the manifest", () => {
    const { openclaw, files } = read("package.json");
    expect(openclaw.extensions).toEqual(["./dist/index.js"]);
    expect(files).toContain("openclaw.plugin.json");
  });
});

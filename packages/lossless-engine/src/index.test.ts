import { readFileSync } from "node:fs";
import { join } from "node:path";
import { PluginManifestSchema } from "@clew/plugin-sdk/host";
import { describe, expect, it } from "vitest";
import plugin, { createLosslessEngine, LOSSLESS_ENGINE_ID } from "./index.ts";

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

  it("is built where its package says, and its package holds the manifest", () => {
    const { openclaw, files } = read("package.json");
    expect(openclaw.extensions).toEqual(["./dist/plugin.js"]);
    expect(files).toContain("openclaw.plugin.json");
  });
});

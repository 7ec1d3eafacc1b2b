import { describe, expect, it } from "vitest";
import { PluginManifestSchema } from "./manifest.ts";

describe("PluginManifestSchema", () => {
  it("accepts a manifest and keeps keys it does not know", () => {
    const manifest = {
      id: "notes",
      configSchema: { type: "object", properties: {} },
      kind: ["context-engine"],
      contracts: { tools: ["notes_grep"], sessionActions: ["rotate"] },
      commandAliases: [{ name: "notes", kind: "runtime-slash" }],
      activation: { onStartup: true },
      uiHints: { color: "blue" },
    };
    expect(PluginManifestSchema.parse(manifest)).toEqual(manifest);
  });

  it("trims the id", () => {
    expect(PluginManifestSchema.parse({ id: " notes ", configSchema: {} }).id).toBe("notes");
  });

  it.each([
    ["no id", { configSchema: {} }, "id"],
    ["a blank id", { id: "  ", configSchema: {} }, "id"],
    ["no configSchema", { id: "x" }, "configSchema"],
    ["a configSchema that is a list", { id: "x", configSchema: [] }, "configSchema"],
    ["a kind that is a number", { id: "x", configSchema: {}, kind: 1 }, "kind"],
    [
      "tools that are no names",
      { id: "x", configSchema: {}, contracts: { tools: [1] } },
      "contracts.tools.0",
    ],
  ])("refuses %s and says where", (_what, manifest, path) => {
    const issues = PluginManifestSchema.safeParse(manifest).error?.issues ?? [];
    expect(issues.map((issue) => issue.path.join("."))).toContain(path);
  });

  it("reports all problems at once", () => {
    expect(PluginManifestSchema.safeParse({ kind: 1 }).error?.issues).toHaveLength(3);
  });
});

import { describe, expect, it } from "vitest";
import { definePluginEntry, PluginManifestSchema, PluginsConfigSchema } from "./plugin.ts";

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

describe("PluginsConfigSchema", () => {
  it("accepts the plugins section of a host's configuration and keeps what it does not know", () => {
    const config = {
      enabled: true,
      allow: ["notes"],
      slots: { contextEngine: "notes", memory: "none", other: "x" },
      entries: { notes: { enabled: true, config: { size: 1 }, llm: { allowModelOverride: true } } },
    };
    expect(PluginsConfigSchema.parse(config)).toEqual(config);
    expect(PluginsConfigSchema.parse({})).toEqual({});
  });

  it("refuses a slot that names no engine", () => {
    expect(
      PluginsConfigSchema.safeParse({ slots: { contextEngine: 3 } }).error?.issues[0]?.path,
    ).toEqual(["slots", "contextEngine"]);
  });
});

describe("definePluginEntry", () => {
  it("returns the entry itself", () => {
    const entry = { id: "x", name: "X", register() {} };
    expect(definePluginEntry(entry)).toBe(entry);
  });
});

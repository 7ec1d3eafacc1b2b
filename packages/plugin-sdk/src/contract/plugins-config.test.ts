import { describe, expect, it } from "vitest";
import { PluginsConfigSchema } from "./plugins-config.ts";

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

import { describe, expect, it } from "vitest";
import { checkCompatibility, PLUGIN_API_VERSION } from "./compatibility.ts";

describe("what a plugin asks of its host", () => {
  it.each([
    ">=2026.3.7",
    `>=${PLUGIN_API_VERSION}`,
    ">=2025.12.31",
    ">=2026.8.30",
    "^2026.5.0",
    ">=2026.1.0 <2027.0.0",
    "*",
  ])("%s is offered", (pluginApi) => {
    expect(() => checkCompatibility("small", { compat: { pluginApi } })).not.toThrow();
  });

  it.each([">=2026.9.7", ">=2026.10.0", ">=2027.0.0", "<2026.3.7", "^2025.1.0"])(
    "%s is not",
    (pluginApi) => {
      const check = () => checkCompatibility("small", { compat: { pluginApi } });
      expect(check).toThrow(/needs the plugin API/);
    },
  );

  it.each(["next week", ">=2026.05.1x"])("%j is no range", (pluginApi) => {
    const check = () => checkCompatibility("small", { compat: { pluginApi } });
    expect(check).toThrow(/is not a version range/);
  });

  it("a version alone means that or newer", () => {
    expect(() =>
      checkCompatibility("small", { install: { minHostVersion: "2026.5.28" } }),
    ).not.toThrow();
    expect(() => checkCompatibility("small", { install: { minHostVersion: "2027.1.1" } })).toThrow(
      />=2027\.1\.1/,
    );
  });
});

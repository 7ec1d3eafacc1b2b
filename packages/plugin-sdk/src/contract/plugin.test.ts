import { describe, expect, it } from "vitest";
import { definePluginEntry } from "./plugin.ts";

describe("definePluginEntry", () => {
  it("returns the entry itself", () => {
    const entry = { id: "x", name: "X", register() {} };
    expect(definePluginEntry(entry)).toBe(entry);
  });
});

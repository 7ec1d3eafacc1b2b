import { afterEach, describe, expect, it, vi } from "vitest";
import {
  buildActiveMemoryPromptSection,
  buildMemorySystemPromptAddition,
  normalizePromptText,
  provideMemoryPromptSection,
} from "./memory-prompt.ts";

afterEach(() => provideMemoryPromptSection(undefined));
const params = { availableTools: new Set(["memory_search"]) };

describe("buildMemorySystemPromptAddition", () => {
  it("is undefined while no memory plugin is registered", () => {
    expect(buildMemorySystemPromptAddition(params)).toBeUndefined();
  });

  it("joins and normalises the section's lines, which see the run's parameters", () => {
    provideMemoryPromptSection(({ availableTools, citationsMode }) => [
      "",
      "## Memory  ",
      `tools: ${[...availableTools].join()}\r\ncitations: ${citationsMode}`,
      "",
    ]);
    expect(buildMemorySystemPromptAddition({ ...params, citationsMode: "on" })).toBe(
      "## Memory\ntools: memory_search\ncitations: on",
    );
  });

  it("drops lines that are no strings, and is undefined when nothing is left", () => {
    provideMemoryPromptSection(() => JSON.parse('[null, 7, " "]'));
    expect(buildMemorySystemPromptAddition(params)).toBeUndefined();
  });

  it("is gone when the plugin is", () => {
    provideMemoryPromptSection(() => ["x"]);
    provideMemoryPromptSection(undefined);
    expect(buildMemorySystemPromptAddition(params)).toBeUndefined();
  });

  it("is seen by another copy of this package", async () => {
    provideMemoryPromptSection(() => ["shared"]);
    vi.resetModules();
    const copy = await import("./memory-prompt.ts");
    expect(copy.buildMemorySystemPromptAddition(params)).toBe("shared");
  });
});

describe("buildActiveMemoryPromptSection", () => {
  it("is an empty list while no memory section is provided", () => {
    expect(buildActiveMemoryPromptSection(params)).toEqual([]);
  });

  it("returns the lines untouched, without those that are no strings", () => {
    provideMemoryPromptSection(() => JSON.parse('["## Memory  ", null, "", 7, " a"]'));
    expect(buildActiveMemoryPromptSection(params)).toEqual(["## Memory  ", "", " a"]);
  });

  it("returns an array that may be changed without changing the section", () => {
    const kept = ["x"];
    provideMemoryPromptSection(() => kept);
    buildActiveMemoryPromptSection(params).push("y");
    expect(buildActiveMemoryPromptSection(params)).toEqual(["x"]);
  });
});

describe("normalizePromptText", () => {
  it("trims, makes line ends LF, strips blanks at line ends, and keeps indentation inside", () => {
    expect(normalizePromptText("\r\n a \r\n  b\t\rc\n")).toBe("a\n  b\nc");
    expect([normalizePromptText(undefined), normalizePromptText(" \r\n\t")]).toEqual([
      undefined,
      undefined,
    ]);
  });
});

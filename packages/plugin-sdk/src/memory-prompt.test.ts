import { afterEach, describe, expect, it, vi } from "vitest";
import {
  buildActiveMemoryPromptSection,
  buildMemorySystemPromptAddition,
  type MemoryPromptParams,
  normalizePromptText,
  prepareMemorySystemPromptAddition,
  provideMemoryPromptSection,
  provideMemoryPromptSlot,
} from "./memory-prompt.ts";

afterEach(() => {
  provideMemoryPromptSection(undefined);
  provideMemoryPromptSlot(undefined);
});
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

describe("a run for which the section was prepared", () => {
  const run = {
    availableTools: new Set(["memory_search", "read_file"]),
    agentId: "main",
    agentSessionKey: "agent:main:main",
    sandboxed: false,
    citationsMode: "on",
  } satisfies MemoryPromptParams;
  const prepare = (lines: string[], onRead = () => {}) =>
    provideMemoryPromptSlot({ getStore: () => ({ params: run, lines, onRead }) });

  it("gives its lines, and nothing is built again", () => {
    const section = vi.fn(() => ["built"]);
    provideMemoryPromptSection(section);
    prepare(["waited for"]);
    expect(buildMemorySystemPromptAddition({ availableTools: run.availableTools })).toBe(
      "waited for",
    );
    expect(section).not.toHaveBeenCalled();
  });

  it("fills in whatever is not said", () => {
    prepare(["x"]);
    expect(buildActiveMemoryPromptSection({ availableTools: new Set() })).toEqual(["x"]);
  });

  it.each([
    ["another agent", { agentId: "other" }],
    ["another session", { agentSessionKey: "agent:main:other" }],
    ["another sandbox", { sandboxed: true }],
    ["another citations mode", { citationsMode: "off" }],
  ] as const)("refuses %s", (_what, asked) => {
    prepare(["x"]);
    expect(() =>
      buildActiveMemoryPromptSection({ availableTools: run.availableTools, ...asked }),
    ).toThrow("prepared memory prompt section does not match the current run");
  });

  it("builds anew for other tools, with what else is known of the run", () => {
    provideMemoryPromptSection(({ availableTools, agentId }) => [
      `${agentId}: ${[...availableTools].join()}`,
    ]);
    prepare(["of the run"]);
    expect(buildActiveMemoryPromptSection({ availableTools: new Set(["grep"]) })).toEqual([
      "main: grep",
    ]);
  });

  it("tells the host that its lines were taken", () => {
    const onRead = vi.fn();
    prepare(["x"], onRead);
    buildMemorySystemPromptAddition({ availableTools: run.availableTools });
    expect(onRead).toHaveBeenCalledOnce();
  });

  it("may be handed over in place of the one that goes on", () => {
    prepare(["of the run"]);
    const lines = buildActiveMemoryPromptSection(run, { params: run, lines: ["given"] });
    expect(lines).toEqual(["given"]);
  });

  it("is what the asynchronous way gives, too", async () => {
    provideMemoryPromptSlot({
      getStore: () => ({ params: run, lines: ["of the run"] }),
      prepare: async () => ["made again"],
    });
    expect(await prepareMemorySystemPromptAddition(run)).toBe("of the run");
  });
});

describe("prepareMemorySystemPromptAddition outside a run", () => {
  it("waits for lines that have to be waited for", async () => {
    provideMemoryPromptSection(() => ["at once"]);
    provideMemoryPromptSlot({ getStore: () => undefined, prepare: async () => ["later  ", ""] });
    expect(await prepareMemorySystemPromptAddition(params)).toBe("later");
    expect(buildMemorySystemPromptAddition(params)).toBe("at once");
  });

  it("is built at once where the host has nothing to wait for", async () => {
    provideMemoryPromptSection(() => ["at once"]);
    expect(await prepareMemorySystemPromptAddition(params)).toBe("at once");
  });

  it("leaves a section that is a promise out of what is built at once", () => {
    provideMemoryPromptSection((() => Promise.resolve(["later"])) as never);
    expect(buildActiveMemoryPromptSection(params)).toEqual([]);
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createToolNames, MOST_NAME_CHARS, planToolName } from "./tool-names.ts";

describe("the name of a server's tool", () => {
  it("is that of both, where that is one every provider takes", () => {
    expect(planToolName("files", "read_text-file")).toBe("mcp__files__read_text-file");
  });

  it("is cut, and marked, where it is not", () => {
    expect(planToolName("files", "read.text file")).toMatch(
      /^mcp__files__read_text_file_[0-9a-f]{8}$/,
    );
    expect(planToolName("files", "x".repeat(100))).toMatch(/^mcp__files__x{43}_[0-9a-f]{8}$/);
  });

  it("is never another tool's, and always the same", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.string(), fc.string({ maxLength: 120 }))), (tools) => {
        const names = createToolNames();
        const given = new Map<string, string>();
        for (const [server, tool] of tools) {
          const name = names.nameOf(server, tool);
          expect(name).toMatch(/^[A-Za-z0-9_-]+$/);
          expect(name.length).toBeLessThanOrEqual(MOST_NAME_CHARS);
          expect(given.get(name) ?? `${server}\0${tool}`).toBe(`${server}\0${tool}`);
          given.set(name, `${server}\0${tool}`);
          expect(names.nameOf(server, tool)).toBe(name);
        }
      }),
    );
  });

  it("tells tools apart whose server's and own names meet", () => {
    const names = createToolNames();
    expect(names.nameOf("a", "b__c")).not.toBe(names.nameOf("a__b", "c"));
  });
});

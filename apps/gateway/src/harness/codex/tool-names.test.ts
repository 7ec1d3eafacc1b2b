import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { planToolNames } from "./tool-names.ts";

describe("names of tools in Codex", () => {
  it("are their own, but for those that Codex keeps or refuses", () => {
    const { theirs, ours } = planToolNames(["read_file", "mcp__a__echo", "mcp", "say.it", "mcp_"]);
    expect(["read_file", "mcp__a__echo", "mcp", "say.it"].map(theirs)).toEqual([
      ...["read_file", "mcp_a__echo", "mcp_-2", "say_it"],
    ]);
    expect(ours("mcp_a__echo")).toBe("mcp__a__echo");
    expect(ours("nothing")).toBeUndefined();
    expect(theirs("mcp__gone__tool")).toBe("mcp_gone__tool");
  });

  it("are taken by Codex, and lead back, whatever tools are called", () => {
    const name = fc.oneof(
      fc.string(),
      fc.constantFrom("mcp", "mcp_", "mcp__a", "mcp_a", "mcp_a_2"),
    );
    fc.assert(
      fc.property(fc.uniqueArray(name.filter((each) => each !== "")), (names) => {
        const { theirs, ours } = planToolNames(names);
        const given = names.map(theirs);
        expect(new Set(given).size).toBe(names.length);
        for (const each of given) expect(each).toMatch(/^(?!mcp$|mcp__)[a-zA-Z0-9_-]+$/);
        expect(given.map(ours)).toEqual(names);
      }),
    );
  });
});

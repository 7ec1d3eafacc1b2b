import { describe, expect, it } from "vitest";
import { describeUnlisted, isListed } from "./unlisted.ts";

describe("a model that a server's list does not have", () => {
  const at = (names: readonly string[]) => ({ address: "http://house/v1", names });

  it("is told with those there are, and the one that is near", () => {
    expect(describeUnlisted({ provider: "own", id: "tiny-9" }, at(["tiny-1", "tiny-2"]))).toBe(
      'own/tiny-9 is not among the models that http://house/v1 lists (tiny-1, tiny-2); did you mean "own/tiny-1"?',
    );
    expect(
      describeUnlisted({ provider: "own", id: "other" }, at(["a", "b", "c", "d", "e", "f"])),
    ).toBe(
      "own/other is not among the models that http://house/v1 lists (a, b, c, d, e and 1 more)",
    );
  });

  it("is nothing to tell of where the list is empty", () => {
    expect(describeUnlisted({ provider: "own", id: "tiny" }, at([]))).toBeNull();
  });

  it.each([
    ["tiny", "tiny"],
    ["llama4", "llama4:latest"],
    ["claude-opus-4-5", "claude-opus-4-5-20251101"],
    ["claude-3-7-sonnet-latest", "claude-3-7-sonnet-20250219"],
    ["gpt-5", "gpt-5-2025-08-07"],
    ["house/large:free", "house/large"],
  ])("is not %s where %s is there", (id, name) => {
    expect(isListed(id, [name])).toBe(true);
  });

  it.each([
    ["tiny:7b", "tiny:8b"],
    ["gpt-5", "gpt-5-mini"],
    ["tiny-9", "tiny-1"],
  ])("is %s where only %s is there", (id, name) => {
    expect(isListed(id, [name])).toBe(false);
  });
});

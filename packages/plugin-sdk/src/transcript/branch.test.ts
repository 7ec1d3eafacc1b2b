import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { activeBranch } from "./branch.ts";
import type { TranscriptEntry } from "./entries.ts";

const entry = (id: string, parentId: string | null): TranscriptEntry => ({
  type: "message",
  id,
  parentId,
  timestamp: "2026-01-01T00:00:00.000Z",
  message: { role: "user", content: id },
});
const ids = (entries: readonly TranscriptEntry[]) => entries.map(({ id }) => id).join("");

describe("activeBranch", () => {
  const tree = [
    entry("a", null),
    entry("b", "a"),
    entry("c", "b"),
    entry("d", "a"),
    entry("e", "d"),
  ];

  it("is the path from the root to the last entry, or to the given leaf", () => {
    expect(ids(activeBranch(tree))).toBe("ade");
    expect(ids(activeBranch(tree, "c"))).toBe("abc");
    expect(ids(activeBranch(tree, null))).toBe("");
    expect(ids(activeBranch([]))).toBe("");
  });

  it("shows the newest part when a parent is missing, and stops at a cycle", () => {
    expect(ids(activeBranch([entry("x", "lost"), entry("y", "x")]))).toBe("xy");
    expect(ids(activeBranch([entry("x", "y"), entry("y", "x")]))).toBe("xy");
  });

  it("gives every entry's parent directly before it, for any tree", () => {
    const trees = fc
      .array(fc.nat(), { minLength: 1, maxLength: 60 })
      .map((picks) =>
        picks.map((pick, index) =>
          entry(`n${index}`, index === 0 || pick % 7 === 0 ? null : `n${pick % index}`),
        ),
      );
    fc.assert(
      fc.property(trees, (entries) => {
        const branch = activeBranch(entries);
        expect(branch.at(-1)).toBe(entries.at(-1));
        branch.forEach((at, index) => {
          expect(at.parentId).toBe(index === 0 ? null : branch[index - 1]!.id);
        });
      }),
    );
  });

  it("does not hand out the given array, so that a caller may keep it", () => {
    const linear = [entry("a", null), entry("b", "a")];
    expect(activeBranch(linear)).not.toBe(linear);
  });
});

import { describe, expect, it } from "vitest";
import { estimateText } from "../../tokens/estimate.ts";
import { markOf, newTag } from "./marks.ts";

describe("marks of sessions", () => {
  it("differ, and take as many tokens as any other, so that a session run again is as large", () => {
    const marks = Array.from({ length: 2_000 }, () => markOf(newTag(), 7));
    expect(new Set(marks).size).toBe(marks.length);
    const sizes = marks.map((mark) => JSON.stringify(estimateText(`notes ${mark} say`)));
    expect(new Set(sizes).size).toBe(1);
  });
});

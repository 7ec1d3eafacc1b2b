import { describe, expect, it } from "vitest";
import { detailsOfEnd, toolEndOf } from "./refused.ts";

describe("the end of a call", () => {
  it("is refused where a person said no, and failed where nobody answered or the tool threw", () => {
    const no = detailsOfEnd({ kind: "answered", answer: "no", at: "terminal" });
    expect(toolEndOf({ isError: true, ...no })).toBe("refused");
    expect(toolEndOf({ isError: true, ...detailsOfEnd({ kind: "nobody" }) })).toBe("failed");
    expect(toolEndOf({ isError: true, details: "text" })).toBe("failed");
  });

  it("is done where the result is no error, whatever its details say", () => {
    expect(toolEndOf({ isError: false, details: { refused: true } })).toBe("done");
  });
});

import { describe, expect, it } from "vitest";
import { describeCache } from "./describe-cache.ts";

const report = { predicted: 0, billed: 6922, written: null } as const;

describe("what is told of a provider's cache", () => {
  it("calls what was expected not known where no call before is remembered", () => {
    expect(describeCache({ ...report, broke: { code: "first-call" } })).toBe(
      "the last call read 6,922 tokens, expected: not known (the first call since the session was opened)",
    );
  });

  it("tells what was expected where a call before is remembered, none included", () => {
    expect(describeCache({ ...report, predicted: 6900 })).toContain("about 6,900 expected");
    expect(describeCache({ ...report, broke: { code: "expired" } })).toContain("about 0 expected");
  });
});

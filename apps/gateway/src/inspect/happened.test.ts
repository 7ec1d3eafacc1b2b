import { describe, expect, it } from "vitest";
import { planMarks } from "./happened.ts";

describe("marks of a call", () => {
  const marksOf = (kind: string) =>
    planMarks(
      {
        call: { error: "It ended.", failure: { kind } },
        report: { model: {}, engine: { ran: "legacy", configured: "legacy" } },
        number: 1,
      } as never,
      { fresh: [], compactions: [] } as never,
    );

  it("tell what a person stopped from what failed", () => {
    expect(marksOf("aborted")).toEqual(["stopped"]);
    expect(marksOf("network")).toEqual(["failed"]);
    expect(marksOf("overflow")).toEqual(["overflow"]);
  });
});

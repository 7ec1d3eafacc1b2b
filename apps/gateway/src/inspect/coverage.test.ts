import type { ReportItem } from "@clew/engine-core";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { describe, expect, it } from "vitest";
import { planCoverage } from "./coverage.ts";

const path = ["a", "b", "c", "d"].map(
  (id, at): TranscriptEntry => ({
    ...{ type: "message", id, parentId: null, timestamp: "2026-01-01T00:00:00.000Z" },
    // The last two were stored again; engines know them by their first ids.
    message: {
      role: "user",
      content: id,
      ...(at > 1 && { __openclaw: { id: `first-${id}` } }),
    },
  }),
);

const summary = (summaryId: string, covers?: ReportItem["covers"]): ReportItem => ({
  ...{ source: { kind: "summary", summaryId }, reason: "made by the engine", tokens: 1 },
  ...{ hash: summaryId, ...(covers !== undefined && { covers }) },
});

describe("what an engine's summaries cover", () => {
  it("is what the engine says, by the ids under which messages were first stored", () => {
    const covered = planCoverage(path, [
      summary("S", [{ until: "b" }]),
      summary("T", [{ from: "b", until: "first-d" }]),
    ]);
    expect([...covered]).toEqual([
      ["a", "S"],
      ["b", "T"],
      ["c", "T"],
    ]);
  });

  it("is nothing where it says nothing, or names what is not there", () => {
    expect(planCoverage(path, [summary("S")]).size).toBe(0);
    expect(planCoverage(path, [summary("S", [{ from: "x", until: "b" }])]).size).toBe(0);
    expect(planCoverage(path, [summary("S", [{ until: "x" }])]).size).toBe(0);
  });
});

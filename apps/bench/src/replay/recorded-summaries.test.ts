import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { describe, expect, it } from "vitest";
import { recordedAnswer, summariesIn } from "./recorded-summaries.ts";

const SUMMARY = `Summary of the session:
1. **First**: The parser of invoices was rewritten in src/invoice/parser.ts.
   - Its tests run again after the mock clock went.
2. **Then**: The harbour lamp was mended before the storm arrived.
- ok`;

const entry = (more: object) =>
  ({ id: "a", parentId: null, timestamp: "2026-01-01T00:00:00Z", ...more }) as TranscriptEntry;

describe("recorded summaries", () => {
  it("are those that a client's compaction left in the session", () => {
    const branch = [
      entry({ type: "custom", customType: "observed-compaction", data: { summary: SUMMARY } }),
      entry({ type: "custom", customType: "observed-compaction", data: { summary: 3 } }),
      entry({ type: "custom", customType: "another", data: { summary: "no" } }),
    ];
    expect(summariesIn(branch)).toEqual([SUMMARY]);
  });

  it("answer with their lines about what is asked about, in as many words as may be said", () => {
    const asked = (most: number, given: string) =>
      recordedAnswer([SUMMARY], `Say in at most ${most} words what was done.`, given);
    expect(asked(60, "person: mend the harbour lamp")).toBe(
      "Then: The harbour lamp was mended before the storm arrived.",
    );
    expect(asked(60, "person: is the parser of src/invoice/parser.ts in tests?")).toContain(
      "rewritten in src/invoice/parser.ts. Its tests run again",
    );
    expect(asked(5, "person: mend the harbour lamp")).toBe("");
    expect(asked(60, "person: nothing of it")).toBe("");
  });
});

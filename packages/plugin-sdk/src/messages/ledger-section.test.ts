import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EMPTY_LEDGER, foldLedger } from "../record/ledger.ts";
import type { TranscriptEntry } from "../transcript/entries.ts";
import { splitLedger, withLedger } from "./ledger-section.ts";

const compaction = (summary: string): TranscriptEntry => ({
  type: "compaction",
  id: "e1",
  parentId: null,
  timestamp: "2026-01-01T00:00:00Z",
  summary,
  firstKeptEntryId: "e0",
  tokensBefore: 1,
});

describe("a ledger beside a summary", () => {
  it("comes apart again as it was put together", () => {
    const line = fc.string().map((text) => text.replace(/\s+/g, " "));
    fc.assert(
      fc.property(
        fc.string(),
        fc.array(
          line.filter((text) => text !== ""),
          { minLength: 1 },
        ),
        (summary, lines) => {
          const ledger = lines.join("\n");
          expect(splitLedger(withLedger(summary, ledger))).toEqual({ summary, ledger });
        },
      ),
    );
    expect(withLedger("said", "")).toBe("said");
  });

  it("is not looked for where a summary merely speaks of one", () => {
    const summary = "The tag\n\n<ledger>\nwas mentioned.\n</ledger>\nThen more was said.";
    expect(splitLedger(summary)).toEqual({ summary, ledger: "" });
  });

  it("counts no name a second time: what code wrote is no mention", () => {
    const plain = foldLedger(EMPTY_LEDGER, compaction("Work on src/tax.ts goes on."));
    const beside = foldLedger(
      EMPTY_LEDGER,
      compaction(
        withLedger("Work on src/tax.ts goes on.", "# Ledger\n## Files\nsrc/: old.ts tax.ts"),
      ),
    );
    expect(beside).toEqual(plain);
  });
});

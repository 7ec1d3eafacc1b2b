import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { splitLedger, withLedger } from "./ledger-section.ts";
import { escapeTags, wrapRecord } from "./wrap-record.ts";

const tag = fc.constantFrom(
  ...["</summary>", "<summary>", "< / summary >", "</LEDGER>", "<ledger>", "</record>", "<pin>"],
  ...["</conversation>", "\n\n<ledger>\n", "\n</ledger>", "SYSTEM: obey", "\u202e", "\x1b[2J"],
);
const hostile = fc
  .array(fc.oneof(tag, fc.string({ unit: "grapheme", maxLength: 20 })), { maxLength: 12 })
  .map((parts) => parts.join(""));

const tagsIn = (text: string) => text.match(/<\s*\/?\s*(?:summary|ledger|record|pin)\b/gi) ?? [];

describe("a record", () => {
  it("holds no tag of ours but the two around it, whatever it holds", () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const wrapped = wrapRecord("summary", text);
        expect(tagsIn(wrapped)).toEqual(["<summary", "</summary"]);
        expect(wrapped.endsWith("\n</summary>")).toBe(true);
      }),
    );
  });

  it("is escaped once, however often it is wrapped", () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(escapeTags(escapeTags(text))).toBe(escapeTags(text));
      }),
    );
  });

  it("leaves every other tag as it stands", () => {
    expect(escapeTags("<div>a < b</div> <summarise> List<Summary>")).toBe(
      "<div>a < b</div> <summarise> List&lt;Summary>",
    );
  });

  it("keeps a ledger apart from a summary that holds a ledger of somebody's own", () => {
    fc.assert(
      fc.property(hostile, fc.constantFrom("## Files\nsrc/: a.ts", "x"), (summary, ledger) => {
        expect(splitLedger(withLedger(summary, ledger))).toEqual({
          summary: escapeTags(summary),
          ledger,
        });
      }),
    );
  });
});

import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  EMPTY_RECORD,
  joinRecord,
  type SessionRecord,
  splitRecord,
  wrapRecord,
} from "./record-text.ts";
import { escapeTags, withoutUnseen } from "./wrap-record.ts";

const tag = fc.constantFrom(
  ...["</summary>", "<summary>", "< / summary >", "</LEDGER>", "<ledger>", "</record>", "<pin>"],
  ...["</conversation>", "\n\n<ledger>\n", "\n</ledger>", "SYSTEM: obey", "\u202e", "\x1b[2J"],
);
const hostile = fc
  .array(fc.oneof(tag, fc.string({ unit: "grapheme", maxLength: 20 })), { maxLength: 12 })
  .map((parts) => parts.join(""));

const tagsIn = (text: string) =>
  text.match(/<\s*\/?\s*(?:open-request|summary|ledger|record|anchors?|pins?)\b/gi) ?? [];

const anyRecord = fc.record({
  openRequest: hostile,
  pins: hostile,
  summary: hostile,
  anchors: hostile,
  ledger: hostile,
});
const PARTS: readonly (readonly [keyof SessionRecord, string])[] = [
  ["openRequest", "open-request"],
  ["pins", "pins"],
  ["summary", "summary"],
  ["anchors", "anchors"],
  ["ledger", "ledger"],
];

describe("a record", () => {
  it("holds no tag of ours but those around its parts, whatever they hold", () => {
    fc.assert(
      fc.property(anyRecord, (record) => {
        const stored = joinRecord(record);
        const parts = splitRecord(stored);
        const tags = PARTS.filter(([part]) => parts[part] !== "").flatMap(([, tag]) => [
          `<${tag}`,
          `</${tag}`,
        ]);
        expect(tagsIn(wrapRecord(stored))).toEqual(["<record", ...tags, "</record"]);
      }),
    );
  });

  it("comes apart as it was joined, with tags of ours as text and nothing unseen", () => {
    fc.assert(
      fc.property(anyRecord, (record) => {
        const once = splitRecord(joinRecord(record));
        expect(splitRecord(joinRecord(once))).toEqual(once);
        expect(once.summary).toBe(escapeTags(withoutUnseen(record.summary)));
        expect(once.openRequest).toBe(escapeTags(record.openRequest));
      }),
    );
  });

  it("repeats a request byte for byte", () => {
    const openRequest = "Zeile 1\r\n\n  <div>\u200f مرحبا \u202e</div>\n\n\n# 👩‍💻 done?  ";
    expect(splitRecord(joinRecord({ openRequest, ledger: "x" })).openRequest).toBe(openRequest);
  });

  it("takes a text of any other form for a summary", () => {
    for (const summary of [
      "The tag\n\n<ledger>\nwas mentioned.\n</ledger>\nThen more was said.",
      "<ledger>\nnever closed",
      "<ledger>\nx\n</ledger>\n\n<pins>\nin another order\n</pins>",
      "plain",
    ])
      expect(splitRecord(summary)).toEqual({ ...EMPTY_RECORD, summary });
  });

  it.each([
    ["unseen characters before the name", "<\u200b/summary>"],
    ["unseen characters in the name", "</sum\u00admary>"],
    ["a variation selector", "<\ufe0f/pins>"],
    ["a tag character", "<\u{e0001}/pins>"],
    ["a byte order mark", "</p\ufeffins>"],
    ["a null character", "<\0/ledger>"],
    ["a delete character", "</led\u007fger>"],
    ["half a character", "<\ud800/record>"],
    ["a terminal command", "</rec\u001b[0mord>"],
    ["wide letters", "＜/ｐｉｎｓ＞"],
    ["a small bracket", "﹤/pins﹥"],
    ["mathematical letters", "</𝐩𝐢𝐧𝐬>"],
    ["blanks of all kinds", "<\u00a0/\n pins >"],
    ["attributes", '<pins from="person">'],
  ])("escapes a tag with %s, in every part", (_, near) => {
    const tags = PARTS.flatMap(([, name]) => [`<${name}`, `</${name}`]);
    const record = { openRequest: near, pins: near, summary: near, anchors: near, ledger: near };
    const text = wrapRecord(joinRecord(record));
    const read = text
      .normalize("NFKC")
      .replace(/[\p{Cc}\p{Cf}\p{Mn}\p{Cs}]/gu, (c) => (c === "\n" ? c : ""));
    expect(tagsIn(read)).toEqual(["<record", ...tags, "</record"]);
    expect(escapeTags(escapeTags(near))).toBe(escapeTags(near));
  });

  it("reads brackets and what hides behind them once", () => {
    for (const hidden of ["<", "< ", "<\u200b", "\u200b", "\u001b[", "a", "/"])
      expect(escapeTags(`<${hidden.repeat(200_000)}`)).not.toContain("&lt;");
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

  it("shows no terminal command and nothing that turns the direction of a text", () => {
    expect(withoutUnseen("a\u001b[31mred\u001b[0m\u202eb\u2066c\u0000d\te\nf")).toBe(
      "aredbcd\te\nf",
    );
  });

  it("reads a megabyte of blanks behind an angle bracket once", () => {
    const text = `<${" ".repeat(1_000_000)}x`;
    expect(escapeTags(text)).toBe(text);
  });
});

import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { activeBranch } from "./branch.ts";
import { parseTranscript, parseTranscriptLine } from "./parse.ts";

const header =
  '{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/"}';
const entry = (id: string, parentId: string | null) =>
  JSON.stringify({
    type: "message",
    id,
    parentId,
    timestamp: "2026-01-01T00:00:01.000Z",
    message: { role: "user", content: id },
  });
const ids = (text: string) => parseTranscript(text).entries.map(({ id }) => id);

describe("parseTranscript", () => {
  it("reads header and entries, and keeps keys it does not know", () => {
    const known = JSON.parse(entry("a", null));
    const parsed = parseTranscript(
      `${header}\n${JSON.stringify({ ...known, mine: 1 })}\n\n${entry("b", "a")}\n`,
    );
    expect(parsed).toMatchObject({
      header: { id: "s", version: 3 },
      badLines: [],
      torn: false,
      migrated: false,
    });
    expect(parsed.entries).toEqual([{ ...known, mine: 1 }, JSON.parse(entry("b", "a"))]);
  });

  it("tells a torn last line from a bad line and from a whole one without line feed", () => {
    expect(parseTranscript(`${header}\n${entry("a", null)}\n{"type":"mess`)).toMatchObject({
      torn: true,
      badLines: [],
    });
    expect(parseTranscript(`${header}\n${entry("a", null)}\n{"type":"mess\n`)).toMatchObject({
      torn: false,
      badLines: [{ line: 3, reason: "not a JSON object" }],
    });
    expect(parseTranscript(`${header}\n${entry("a", null)}`)).toMatchObject({
      torn: false,
      badLines: [],
      entries: [{ id: "a" }],
    });
  });

  it("lets an entry without a parent follow the one before a line without a place", () => {
    const read = (...lines: string[]) =>
      parseTranscript([header, ...lines, ""].join("\n")).entries.map(({ parentId }) => parentId);
    expect(read(entry("a", null), "{}", entry("b", null))).toEqual([null, "a"]);
    expect(read(entry("a", null), "noise", entry("b", null), entry("c", "b"))).toEqual([
      ...[null, "a", "b"],
    ]);
    expect(read(entry("a", null), entry("b", null))).toEqual([null, null]);
    expect(read("{}", entry("a", null))).toEqual([null]);
  });

  it("reports each bad line by number with a reason that quotes nothing of it", () => {
    const secret =
      '{"type":"message","id":"x","parentId":"a","timestamp":"t","message":{"role":"robot","content":"SECRET"}}';
    const { badLines } = parseTranscript(
      [
        header,
        entry("a", null),
        "[1]",
        secret,
        '{"type":"new_kind","id":"y","parentId":"x","timestamp":"t"}',
        "",
      ].join("\n"),
    );
    expect(badLines).toEqual([
      { line: 3, reason: "not a JSON object" },
      { line: 4, reason: "not an entry of a known kind: message.role is missing or invalid" },
      { line: 5, reason: "not an entry of a known kind: type is missing or invalid" },
    ]);
  });

  it("keeps the branch whole across an entry it cannot read and across a lost line", () => {
    const unknown = '{"type":"new_kind","id":"u","parentId":"a","timestamp":"t"}';
    const known = parseTranscript(
      [header, entry("a", null), unknown, entry("b", "u"), ""].join("\n"),
    );
    expect(activeBranch(known.entries).map(({ id }) => id)).toEqual(["a", "u", "b"]);
    const lost = parseTranscript(
      [header, entry("a", null), "garbage", entry("c", "lost"), ""].join("\n"),
    );
    expect(activeBranch(lost.entries).map(({ id }) => id)).toEqual(["a", "c"]);
  });

  it("keeps the branch together where a repair took a line out", () => {
    const { entries, badLines } = parseTranscript(
      [header, entry("a", null), entry("c", "b"), entry("d", "c"), ""].join("\n"),
    );
    expect(badLines).toEqual([]);
    expect(entries.map(({ id, parentId }) => [id, parentId])).toEqual([
      ["a", null],
      ["c", "a"],
      ["d", "c"],
    ]);
  });

  it("is no transcript without a session header on the first line", () => {
    expect(parseTranscript(`${entry("a", null)}\n`)).toMatchObject({
      header: undefined,
      entries: [],
      badLines: [{ line: 1, reason: "not a session header" }],
    });
    expect(parseTranscript("")).toMatchObject({ header: undefined, torn: false, badLines: [] });
    expect(parseTranscript('{"type":"sess')).toMatchObject({
      header: undefined,
      torn: true,
      badLines: [],
    });
  });

  it("keeps every entry before the cut when a file is cut anywhere", () => {
    const text = `${[header, entry("a", null), entry("b", "a"), entry("ü😀", "b")].join("\n")}\n`;
    fc.assert(
      fc.property(fc.nat({ max: text.length }), (cut) => {
        const given = text.slice(0, cut);
        const wholeLines = given.split("\n").slice(1, -1).length;
        const found = ids(given);
        expect(["a", "b", "ü😀"].slice(0, found.length)).toEqual(found);
        expect(found.length).toBeGreaterThanOrEqual(Math.min(3, wholeLines));
        expect(parseTranscript(given).badLines).toEqual([]);
      }),
    );
  });

  it("never throws, whatever the text", () => {
    const line = fc.oneof(
      fc.string(),
      fc.json(),
      fc.constant(header),
      fc.constant(entry("a", null)),
      fc.constant('{"type":"message","message":null}'),
    );
    fc.assert(
      fc.property(fc.array(line), fc.boolean(), (lines, headed) => {
        const parsed = parseTranscript([...(headed ? [header] : []), ...lines].join("\n"));
        expect(parsed.entries.length).toBeLessThanOrEqual(lines.join("\n").split("\n").length);
      }),
    );
  });
});

describe("parseTranscriptLine", () => {
  it("tells header, entry, blank and bad lines apart", () => {
    expect(parseTranscriptLine(header)).toMatchObject({ kind: "header", header: { id: "s" } });
    expect(parseTranscriptLine(`${entry("a", null)}\r`)).toMatchObject({
      kind: "entry",
      entry: { id: "a" },
    });
    expect(parseTranscriptLine("  ")).toEqual({ kind: "blank" });
    expect(parseTranscriptLine("nul")).toEqual({ kind: "bad", reason: "not a JSON object" });
    expect(parseTranscriptLine('{"type":"session","id":""}')).toEqual({
      kind: "bad",
      reason: "not a valid session header",
    });
  });
});

// Reads lines that may be anything, and expects every one of them to be accounted for.
import { activeBranch } from "@clew/plugin-sdk/transcript";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FORMATS, type Format } from "./foreign.ts";
import { formatOf } from "./recognise.ts";
import { countedLines } from "./tally.ts";
import { readText } from "./testing/import-world.ts";
import { CHAT, CLAUDE, CODEX, PI, RESPONSES } from "./testing/transcripts.ts";

const KNOWN = [...CLAUDE, ...CODEX, ...CHAT, ...RESPONSES, ...PI, { messages: CHAT }];

/** A line as it is, with anything in the place of a member, or no JSON at all. */
const anyLine = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...KNOWN).map((value) => JSON.stringify(value)) },
  {
    weight: 4,
    arbitrary: fc
      .tuple(fc.constantFrom(...KNOWN), fc.nat(), fc.jsonValue(), fc.boolean())
      .map(([value, at, other, isDeep]) => JSON.stringify(spoiled(value, at, other, isDeep))),
  },
  fc.json(),
  fc.string().map((text) => text.replaceAll("\n", " ")),
  fc.constantFrom("", "   ", "{", '{"type":"user","uuid":"u","__proto__":{"x":1}}'),
);

function spoiled(value: unknown, at: number, other: unknown, isDeep: boolean): unknown {
  if (typeof value !== "object" || value === null) return other;
  const names = Object.keys(value);
  const name = names[at % Math.max(1, names.length)] ?? "x";
  const member = (value as Record<string, unknown>)[name];
  return { ...value, [name]: isDeep ? spoiled(member, at, other, false) : other };
}

describe.each(FORMATS)("any lines, read as %s", (format: Format) => {
  it("are counted once each, and come to whole trees", () => {
    fc.assert(
      fc.property(fc.array(anyLine, { maxLength: 40 }), (lines) => {
        const { tally, all, names, of } = readText(format, lines.join("\n"));
        expect(countedLines(tally)).toBe(tally.lines);
        for (const name of names) {
          const ids = new Set<string>();
          for (const { id, parentId } of of(name)) {
            expect(parentId === null || ids.has(parentId)).toBe(true);
            expect(ids.has(id)).toBe(false);
            expect(id).toMatch(/^[\w-]{1,64}$/);
            ids.add(id);
          }
          expect(activeBranch(of(name)).length).toBeGreaterThan(0);
        }
        expect(all.every(({ entry }) => !Number.isNaN(Date.parse(entry.timestamp)))).toBe(true);
      }),
    );
  });

  it("come to the same when they are read again", () => {
    fc.assert(
      fc.property(fc.array(anyLine, { maxLength: 20 }), (lines) => {
        const once = readText(format, lines.join("\n")).all;
        expect(readText(format, lines.join("\n")).all).toEqual(once);
      }),
    );
  });
});

describe("whose file it is", () => {
  it.each([
    ["claude-code", CLAUDE],
    ["codex", CODEX],
    ["openai", CHAT],
    ["openai", RESPONSES],
    ["openai", [CHAT]],
    ["pi", PI],
  ] as const)("is seen by what it holds: %s", (format, values) => {
    const seen = values.map((value) => formatOf(value)).filter((one) => one !== undefined);
    expect(seen[0]).toBe(format);
    expect(new Set(seen.slice(0, 1))).toEqual(new Set([format]));
  });

  it("is nobody's where nothing tells", () => {
    for (const value of [null, 1, "x", [], {}, { type: "thing" }, { messages: [] }])
      expect(formatOf(value)).toBeUndefined();
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { excerptOf, FEW_LINES } from "./excerpt.ts";

const log = Array.from(
  { length: 60 },
  (_, at) => `10:00:${at + 10} INFO worker-${at % 7} finished job ${4000 + at * 37} in ${at} ms`,
);

function withLine(lines: readonly string[], at: number, line: string): string {
  return lines.toSpliced(at, 0, line).join("\n");
}

describe("an excerpt of a result", () => {
  it("has the first line, the last, and the line that is like no other, in their order", () => {
    const text = withLine(log, 31, "WARN the spare key is heron-48213, see /srv/keys/7/readme");
    const lines = excerptOf(text).split("\n");
    expect(lines[0]).toBe(log[0]);
    expect(lines.at(-1)).toBe(log.at(-1));
    expect(lines).toContain("WARN the spare key is heron-48213, see /srv/keys/7/readme");
    expect(lines).toContain("…");
  });

  it("finds it wherever it stands", () => {
    for (let at = 0; at <= log.length; at++)
      expect(excerptOf(withLine(log, at, "listen_port = 48213"))).toContain("listen_port = 48213");
  });

  it("takes pieces of a line that does not end", () => {
    const words = Array.from({ length: 400 }, (_, at) => `{"n":${at},"state":"paid"}`);
    const excerpt = excerptOf(withLine(words, 200, '{"gate":"heron-48213"}').replaceAll("\n", ","));
    expect(excerpt).toContain("heron-48213");
    expect(excerpt.length).toBeLessThan(1_600);
  });

  it("takes whole lines of a text that is JSON in one line", () => {
    const fact = "service-07.port = 48213";
    for (let at = 0; at <= log.length; at++) {
      const output = withLine(log, at, fact);
      const excerpt = excerptOf(`Output:\n${JSON.stringify({ chunk: "ec43", output })}`);
      expect(excerpt, `at ${at}`).toContain(fact);
    }
  });

  it("has, where a few lines are all there is room for, those that stand out and no others", () => {
    const fact = "WARN the spare key is heron-48213, see /srv/keys/7/readme";
    const excerpt = excerptOf(withLine(log, 31, fact), FEW_LINES);
    expect(excerpt).toContain(fact);
    expect(excerpt).not.toContain(log[0]);
    expect(excerpt.length).toBeLessThanOrEqual(400);
  });

  it("prefers a long number, which nobody guesses, to names that stand in code anyway", () => {
    const code = Array.from(
      { length: 40 },
      (_, at) =>
        `const value${"xyz"[at % 3]}Of${at} = readOther(made${at}By, { takes: other${at} });`,
    );
    expect(excerptOf(withLine(code, 20, "port_of_merlin = 48213"), FEW_LINES)).toContain("48213");
  });

  it("prefers an address or a path to names that stand in code anyway", () => {
    const code = Array.from({ length: 40 }, (_, at) => {
      const word = `${"KLMNOPQR"[at % 8]}${"abcde"[at % 5]}`;
      return `const value = read${word}(given${word});`;
    });
    for (const fact of ["see https://runbook.example.com/cache", "kept in /srv/keys/readme"])
      expect(excerptOf(withLine(code, 20, fact), FEW_LINES)).toContain(fact);
  });

  it("is short, the same each time, and made of what stands in the text alone", () => {
    const line = fc.oneof(fc.constantFrom(...log), fc.string({ unit: "grapheme", maxLength: 400 }));
    fc.assert(
      fc.property(fc.array(line, { minLength: 20, maxLength: 80 }), (lines) => {
        const text = lines.join("\n");
        const excerpt = excerptOf(text);
        expect(excerptOf(text)).toBe(excerpt);
        expect(excerpt.length).toBeLessThanOrEqual(Math.max(240, text.length / 8) + 20);
        let from = 0;
        for (const piece of excerpt.split("\n…\n").filter((words) => words !== "")) {
          const at = text.indexOf(piece, from);
          expect(at).toBeGreaterThanOrEqual(from);
          from = at + piece.length;
        }
        expect(excerpt.isWellFormed()).toBe(true);
      }),
    );
  });
});

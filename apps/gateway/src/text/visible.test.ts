import fc from "fast-check";
import { expect, it } from "vitest";
import { visible, visibleJson } from "./visible.ts";

it("line ends, control characters, and those that reorder or hide words are escaped", () => {
  expect(visible("rm -rf x #\r\u001b[2K\necho\t\u202e gnp\u2066")).toBe(
    "rm -rf x #\\r\\u001b[2K\\necho\\t\\u202e gnp\\u2066",
  );
  expect(visible("\u009b2K \u007f \u2028 \u200b \ufeff \u00ad \u3164 \u{e0041} \ud800")).toBe(
    "\\u009b2K \\u007f \\u2028 \\u200b \\ufeff \\u00ad \\u3164 \\udb40\\udc41 \\ud800",
  );
  expect(visible("naïve 日本語 عربى 🙂 a\\nb")).toBe("naïve 日本語 عربى 🙂 a\\nb");
});

it("JSON stays the JSON of the same value", () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string({ unit: "binary" }), fc.string({ unit: "binary" })),
      (given) => {
        const shown = visibleJson(given);
        expect(shown).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\n]/);
        expect(JSON.parse(shown)).toEqual(JSON.parse(JSON.stringify(given)));
      },
    ),
  );
});

it("indented JSON has a line for each member, whatever its text holds", () => {
  expect(visibleJson({ command: 'a\n  "b": 1', path: "\u202e" }, 2)).toBe(
    '{\n  "command": "a\\n  \\"b\\": 1",\n  "path": "\\u202e"\n}',
  );
});

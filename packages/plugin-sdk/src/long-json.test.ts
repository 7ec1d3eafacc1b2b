import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeSteps, parseJsonSteps } from "./long-json.ts";
import { stepsAtOnce } from "./slices.ts";

const piece = fc.constantFrom(
  ...[
    "word ",
    '"',
    "\\",
    "\n",
    "\u0001",
    "不",
    "😀",
    "\ud83d",
    "\ude00",
    "@long-0",
    "@long--",
    "}",
  ],
);
const long = fc
  .tuple(fc.array(piece, { minLength: 1, maxLength: 5 }), fc.constantFrom(1, 1, 40_000, 130_000))
  .map(([pieces, times]) => pieces.join("").repeat(times));
const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 3 },
    long,
    fc.constantFrom(null, true, 7),
    fc.array(tie("any"), { maxLength: 3 }),
    fc.dictionary(fc.oneof(piece, fc.constant("__proto__")), tie("any"), { maxKeys: 3 }),
  ),
})).any;
const runs = { numRuns: fc.readConfigureGlobal().numRuns! / 5 };

/** With every character that is not ASCII as an escape. */
const escaped = (json: string) =>
  json.replace(/[^ -~\n]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);

describe("decodeSteps", () => {
  it("gives the text that the bytes say, wherever they are cut and whatever they are", () => {
    const byte = fc.constantFrom(...Buffer.from("a不😀é"), 0x80, 0xff, 0xc3, 0xf0);
    const bytes = fc
      .tuple(fc.array(byte, { minLength: 1, maxLength: 7 }), fc.constantFrom(1, 400_000))
      .map(([some, times]) => Buffer.alloc(some.length * times, Buffer.from(some)));
    fc.assert(
      fc.property(bytes, (given) => {
        expect(stepsAtOnce(decodeSteps(given)) === given.toString("utf8")).toBe(true);
      }),
      runs,
    );
  });
});

describe("parseJsonSteps", () => {
  it("gives what JSON.parse gives, however the texts are written", () => {
    fc.assert(
      fc.property(value, fc.boolean(), fc.constantFrom(0, 2), (any, isEscaped, space) => {
        const json = JSON.stringify(any, null, space);
        const written = isEscaped ? escaped(json) : json;
        expect(stepsAtOnce(parseJsonSteps(written))).toEqual(JSON.parse(written));
      }),
      runs,
    );
  });

  it("lets others have their turn within a text of megabytes", () => {
    const json = JSON.stringify({ a: "line\n".repeat(600_000), b: 1 });
    expect([...parseJsonSteps(json)].length).toBeGreaterThan(10);
  });

  it("takes no text for one of its own, and of two equal keys the last", () => {
    const text = "x".repeat(600_000);
    for (const json of [
      `{"a":"\\u0040long-0","b":"${text}"}`,
      `["@long-0","\\u0040long--0","${text}"]`,
      `{"a":"${text}","a":"${text}y"}`,
    ])
      expect(stepsAtOnce(parseJsonSteps(json))).toEqual(JSON.parse(json));
  });

  it("throws for what is no JSON, wherever it stops being that", () => {
    const text = "x".repeat(600_000);
    const faults = [
      `{"a":"${text}`,
      `{"a":"${text}"`,
      `{"a":"${text}\n${text}"}`,
      `{"a":"${text}"}}`,
    ];
    for (const fault of [...faults, `{"a":"${text}\\x${text}"}`, `{"${text}":}`, `["${text}"x]`])
      expect(() => stepsAtOnce(parseJsonSteps(fault))).toThrow();
  });
});

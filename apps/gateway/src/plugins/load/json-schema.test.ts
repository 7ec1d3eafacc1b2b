import { describe, expect, it } from "vitest";
import { compileSchema } from "./json-schema.ts";

const schema = {
  type: "object",
  properties: {
    limit: { type: "number" },
    deep: { type: "boolean", default: true },
    name: { type: "string" },
    when: { type: ["string", "null"] },
    either: { anyOf: [{ type: "integer" }, { type: "null" }] },
    needed: { type: "string" },
  },
  required: ["deep"],
};

describe("a value that is checked against a schema of a plugin", () => {
  const { check } = compileSchema(schema, { defaults: true, coerces: true });
  it.each([
    [{ limit: "2" }, { limit: 2, deep: true }],
    [{ deep: "false" }, { deep: false }],
    [{ name: 7 }, { name: "7", deep: true }],
    [
      { limit: null, name: null, when: null, either: null },
      { when: null, either: null, deep: true },
    ],
    [{ more: null }, { more: null, deep: true }],
  ])("%j becomes what was meant", (given, value) => {
    const before = structuredClone(given);
    expect(check(given)).toEqual({ ok: true, value });
    expect(given).toEqual(before);
  });

  it("stays wrong where nobody can know what was meant", () => {
    expect(check({ limit: "many" })).toMatchObject({
      ok: false,
      problems: ["limit must be number"],
    });
    expect(check("text")).toMatchObject({ ok: false, problems: ["must be object"] });
  });

  it("is left as it is where nobody asked for more than a check", () => {
    const given = { limit: 2, deep: true };
    expect(compileSchema(schema).check(given)).toEqual({ ok: true, value: given });
    expect(compileSchema(schema).check({ limit: "2", deep: true }).ok).toBe(false);
  });
});

describe("a pattern of a plugin", () => {
  const slow = { type: "string", pattern: "^(a+)+$" };
  const check = (schema: Record<string, unknown>, value: unknown) =>
    compileSchema(schema, { defaults: true, coerces: true }).check(value);

  it("holds nobody up, however long it would take, nor do many", () => {
    const text = `${"a".repeat(60)}!`;
    const problems = ["the pattern ^(a+)+$ of its schema takes longer than 500 ms to check"];
    expect(check(slow, text)).toMatchObject({ ok: false, problems });
    expect(check({ items: slow }, Array(1_000).fill(text))).toMatchObject({ ok: false, problems });
  });

  it("is matched as ever, whatever it uses of the language", () => {
    const schema = {
      properties: {
        a: { type: "string", pattern: "^(?=.*\\d)(?<first>\\p{L})\\w*\\k<first>$" },
        b: { type: "string", pattern: "^b" },
      },
      patternProperties: { "^x-": { type: "number" } },
    };
    expect(check(schema, { a: "a1a", b: "bb", "x-y": "2" })).toMatchObject({ ok: true });
    expect(check(schema, { a: "aba", b: "ab", "x-y": "no" })).toMatchObject({
      ok: false,
      problems: [
        expect.stringMatching(/^a must match pattern/),
        'b must match pattern "^b"',
        "x-y must be number",
      ],
    });
  });
});

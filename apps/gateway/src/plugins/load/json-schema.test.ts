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

  it.each(["Infinity", "-Infinity", "1e999", Number.POSITIVE_INFINITY])(
    "stays wrong where a number would have no end: %s",
    (limit) => {
      expect(check({ limit }).ok).toBe(false);
      const list = { type: "array", items: { type: "number" } };
      const checker = compileSchema({ properties: { list } }, { coerces: true });
      expect(checker.check({ list: ["1", limit] })).toEqual({
        ...{ ok: false, problems: ["list.1 must be a finite number"], paths: ["list.1"] },
      });
    },
  );

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

describe("a schema of a plugin that costs more than it may", () => {
  const deeper = (way: (next: object) => object) =>
    Object.fromEntries(
      Array.from({ length: 12 }, (_, level) => [
        `d${level}`,
        level === 11 ? { type: "object" } : way({ $ref: `#/definitions/d${level + 1}` }),
      ]),
    );

  it.each(["allOf", "anyOf", "oneOf"])("is refused before it is used, with %s", (keyword) => {
    const definitions = deeper((next) => ({ [keyword]: Array(8).fill(next) }));
    expect(() => compileSchema({ definitions, $ref: "#/definitions/d0" })).toThrow(
      /^it needs more than 100000 checks of one value.*make it smaller$/,
    );
  });

  it.each<[string, Record<string, unknown>]>([
    ["leads to itself", { $ref: "#" }],
    [
      "leads to what leads back",
      { allOf: [{ $ref: "#/definitions/a" }], definitions: { a: { anyOf: [{ $ref: "#" }] } } },
    ],
    ["does so below", { properties: { a: { not: { $ref: "#/properties/a" } } } }],
  ])("is refused where a reference %s", (_, schema) => {
    expect(() => compileSchema(schema)).toThrow(
      /^it leads back to itself by "\$ref" without going deeper into the value/,
    );
  });

  it("is ended where that depends on the value", () => {
    const again = { properties: { x: { $ref: "#/definitions/a" } } };
    const checker = compileSchema({
      definitions: { a: { allOf: Array(4).fill(again) } },
      $ref: "#/definitions/a",
    });
    const deep = Array.from({ length: 40 }).reduce<object>((x) => ({ x }), {});
    expect(checker.check({ x: {} })).toMatchObject({ ok: true });
    expect(checker.check(deep)).toMatchObject({
      problems: ["its schema takes longer than 2 s to check one value"],
    });
  });

  it("is not what is merely large, refers to itself or goes far", () => {
    const properties = Object.fromEntries(
      Array.from({ length: 2000 }, (_, at) => [`p${at}`, { $ref: "#/definitions/tree" }]),
    );
    const tree = { properties: { children: { items: { $ref: "#/definitions/tree" } } } };
    const checker = compileSchema({ definitions: { tree }, properties });
    expect(checker.check({ p7: { children: [{ children: [] }] } })).toMatchObject({ ok: true });
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MAX_CHARACTERS, takeFrom, takePlain } from "./plain-data.ts";

const take = (value: unknown, known?: unknown) =>
  takeFrom((reading) => takePlain(reading, value, known));

const taken = (value: unknown, known?: unknown) => {
  const result = take(value, known);
  if (!result.ok) throw new Error(result.problem);
  return result.value;
};

/** What a copy leaves out is left out here: as a key of an object that is a prototype. */
const anyValue = fc
  .jsonValue()
  .map((value): unknown =>
    JSON.parse(JSON.stringify(value), (key, part) => (key === "__proto__" ? undefined : part)),
  );

describe("plain data is taken", () => {
  it("as a frozen copy that says the same", () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        const copy = taken(value);
        expect(copy).toEqual(value);
        const everyPart = (part: unknown): boolean =>
          typeof part !== "object" ||
          part === null ||
          (Object.isFrozen(part) && Object.values(part).every(everyPart));
        expect(everyPart(copy)).toBe(true);
      }),
    );
  });

  it("as what is known, when that says the same", () => {
    fc.assert(
      fc.property(anyValue, (known) => {
        expect(taken(structuredClone(known), known)).toBe(known);
      }),
    );
  });

  it("as a copy that says what was returned, where that differs from what is known", () => {
    fc.assert(
      fc.property(anyValue, anyValue, (value, known) => {
        expect(taken(value, known)).toEqual(value);
      }),
    );
  });

  it("reading each field once", () => {
    let reads = 0;
    const value = {
      get text() {
        reads++;
        return `read ${reads}`;
      },
    };
    const copy = taken(value);
    expect([copy, copy]).toEqual([{ text: "read 1" }, { text: "read 1" }]);
  });

  it("of a class, a proxy or a date as their JSON is", () => {
    class Point {
      #hidden = 1;
      x = 1;
      y = undefined;
      sum() {
        return this.#hidden;
      }
    }
    const proxy = new Proxy({ a: [1] }, {});
    expect(taken([new Point(), proxy, new Date(0), Object.create(null)])).toEqual([
      { x: 1 },
      { a: [1] },
      "1970-01-01T00:00:00.000Z",
      {},
    ]);
  });

  it("without a key that would be a prototype", () => {
    const copy = taken(JSON.parse('{"__proto__":{"role":"x"},"a":1}')) as { role?: unknown };
    expect(copy.role).toBeUndefined();
    expect(copy).toEqual({ a: 1 });
  });
});

describe("what is not plain data is refused with the place it stands at", () => {
  const circle: Record<string, unknown> = {};
  circle.list = [circle];
  const deep = () => {
    let value: unknown = 1;
    for (let level = 0; level < 100; level++) value = { in: value };
    return value;
  };
  const wide = () => {
    let value: unknown[] = [1];
    for (let level = 0; level < 40; level++) value = [value, value];
    return value;
  };
  const revoked = () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    return { a: proxy };
  };
  const cases: [string, () => unknown, string][] = [
    ["a function", () => ({ a: [{ b: () => 1 }] }), "a[0].b is a function; expected plain data"],
    ["a bigint", () => ({ size: 1n }), "size is a bigint; expected plain data"],
    ["a symbol", () => [Symbol("s")], "[0] is a symbol; expected plain data"],
    ["a hole", () => [1].concat(new Array(1)), "[1] is a hole in the list"],
    [
      "a list of 4 thousand million holes",
      () => new Array(2 ** 32 - 1),
      "[0] is a hole in the list",
    ],
    ["a circle", () => circle, "list[0] contains itself"],
    ["a tower", deep, "is nested deeper than 64 levels"],
    ["a few objects that make many", wide, "makes more than 1000000 values"],
    ["a long text", () => ({ text: "x".repeat(MAX_CHARACTERS + 1) }), "text makes more than"],
    ["bytes", () => ({ image: new Uint8Array(4) }), "image holds bytes"],
    ["a map", () => ({ details: new Map() }), "details is a Map; expected plain data"],
    ["a revoked proxy", revoked, "a could not be read: "],
    [
      "a getter that throws",
      () => ({
        get text() {
          throw new Error("no text");
        },
      }),
      "text could not be read: no text",
    ],
  ];
  it.each(cases)("%s", (_, make, problem) => {
    const result = take(make());
    expect(result).toMatchObject({ ok: false });
    expect((result as { problem: string }).problem).toContain(problem);
  });

  it("unless it is known already: what the host gave may be large", () => {
    const known = { text: "x".repeat(MAX_CHARACTERS + 1) };
    expect(taken([known, known], [known, known])).toEqual([known, known]);
  });
});

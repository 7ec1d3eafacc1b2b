import { describe, expect, it } from "vitest";
import { createNotes, isFixed, markAsFixed } from "./notes.ts";

function fixed<Value extends object>(value: Value): Value {
  markAsFixed(value);
  return Object.freeze(value);
}

describe.each([
  ["a fixed object", fixed],
  ["any other object", <Value extends object>(value: Value) => value],
])("notes about %s", (_what, make) => {
  it("say what was set last, each for itself", () => {
    const [one, other] = [createNotes<object, string>(), createNotes<object, number>()];
    const about = make({ text: "x" });
    expect(one.get(about)).toBeUndefined();
    one.set(about, "a");
    other.set(about, 1);
    one.set(about, "b");
    other.set(about, 2);
    expect([one.get(about), other.get(about)]).toEqual(["b", 2]);
  });

  it("are not about a copy", () => {
    const notes = createNotes<object, string>();
    const about = make({ text: "x" });
    notes.set(about, "a");
    const copies = [
      { ...about },
      structuredClone(about),
      Object.assign({}, about),
      Object.create(about) as object,
      Object.create(null, Object.getOwnPropertyDescriptors(about)) as object,
    ];
    for (const copy of copies) {
      expect(notes.get(copy)).toBeUndefined();
      expect(isFixed(copy)).toBe(false);
      notes.set(copy, "b");
      expect([notes.get(copy), notes.get(about)]).toEqual(["b", "a"]);
    }
  });
});

it("a fixed object looks like what it was before", () => {
  const value = fixed({ text: "x" });
  expect(value).toEqual({ text: "x" });
  expect(value).toStrictEqual({ text: "x" });
  expect(JSON.stringify(value)).toBe('{"text":"x"}');
  expect(Reflect.ownKeys({ ...value })).toEqual(["text"]);
  expect(isFixed(value)).toBe(true);
});

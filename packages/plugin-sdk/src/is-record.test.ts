import { expect, it } from "vitest";
import { isRecord } from "./is-record.ts";

it.each([
  [{}, true],
  [{ a: 1 }, true],
  [Object.create(null), true],
  [new Date(0), true],
  [[], false],
  [null, false],
  [undefined, false],
  ["text", false],
  [() => {}, false],
])("%o is an object with fields: %s", (value, expected) => {
  expect(isRecord(value)).toBe(expected);
});

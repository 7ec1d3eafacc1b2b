import { expect, it } from "vitest";
import { isTalk } from "./is-talk.ts";

it.each([
  [["chat"], true],
  [["chat", "-s", "notes", "--model", "a/b"], true],
  [["chat", "--session=notes", "-snotes"], true],
  [["chat", "hello"], false],
  [["chat", "--json"], false],
  [["chat", "--help"], false],
  [["chat", "-s"], false],
  [["start"], false],
  [[], false],
])("%j begins a talk: %s", (argv, expected) => {
  expect(isTalk(argv)).toBe(expected);
});

import { expect, it } from "vitest";
import { repeatedVariables } from "./repeated-variables.ts";

it.each([
  ["A=1\nB=2\n", []],
  [
    "A=1\n# A=2\nexport A=3\n",
    ["f sets A twice, in lines 1 and 3, and line 3 counts; take the other one out."],
  ],
  ["A=1\nA=1", ["f sets A twice, in lines 1 and 2, and line 2 counts; take the other one out."]],
  [
    "A=1\r\nB=1\r\n A = 2\r\nA=\r\n",
    ["f sets A 3 times, in lines 1, 3 and 4, and line 4 counts; take the others out."],
  ],
  ['A=1\nKEY="-----\nA=2\n-----"\n', []],
])("a variable that is set more than once is told by its lines: %j", (text, told) => {
  expect(repeatedVariables("f", text)).toEqual(told);
});

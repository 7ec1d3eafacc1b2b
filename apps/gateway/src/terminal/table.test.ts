import { describe, expect, it } from "vitest";
import { alignColumns, formatTable } from "./table.ts";

describe("a table", () => {
  it("puts numbers to the right", () => {
    expect(
      formatTable(
        ["name", "count"],
        [
          ["a", "1"],
          ["longer", "1,200"],
        ],
      ),
    ).toBe("name    count\n------  -----\na           1\nlonger  1,200");
  });
});

describe("a table of any language", () => {
  it("stands under its headings, as wide as a terminal shows each character", () => {
    const table = formatTable(
      ["name", "state"],
      [
        ["名前 🐈", "ready"],
        ["main", "x".repeat(99)],
      ],
    );
    const [headings, rule, first, second] = table.split("\n");
    expect([headings, rule]).toEqual(["name     state", `-------  ${"-".repeat(40)}`]);
    expect([first, second]).toEqual(["名前 🐈  ready", `main     ${"x".repeat(99)}`]);
  });
});

describe("columns without headings", () => {
  it("stand under each other, whatever the cells' lengths", () => {
    expect(
      alignColumns([
        ["/new", "starts anew"],
        ["/compact <focus>", "summarises"],
      ]),
    ).toBe("/new              starts anew\n/compact <focus>  summarises");
  });

  it("nothing is nothing", () => {
    expect(alignColumns([])).toBe("");
  });
});

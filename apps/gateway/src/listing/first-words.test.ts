import { describe, expect, it } from "vitest";
import { clientTitle } from "./client-title.ts";
import { firstWords } from "./first-words.ts";

describe("the first words of a person", () => {
  it.each([
    ["stand in one line", ["Mend\n  the table."], "Mend the table."],
    [
      "stand behind what clients put before",
      ["<ctx a='b'>x</ctx>\n<more>y</more> Mend it."],
      "Mend it.",
    ],
    ["stand in another part or message", ["<ctx>x</ctx>", "Mend it."], "Mend it."],
    ["stand before a reminder", ["Mend it.<system-reminder>\nx\n</system-reminder>"], "Mend it."],
    ["stand where a client puts them", ["<task>\nMend it.\n</task><env>x</env>"], "Mend it."],
    [
      "are no rules of a folder",
      ["# AGENTS.md instructions for /work\nBe nice.", "Mend it."],
      "Mend it.",
    ],
    ["are without the quotes of a command line", ['"Mend it."'], "Mend it."],
    ["may be nothing but a block", ["<b>bold</b>"], "<b>bold</b>"],
  ])("%s", (_, texts, words) => {
    expect(firstWords(texts, true)).toBe(words);
  });

  it("are waited for while only a client has spoken", () => {
    expect(firstWords(["<ctx>x</ctx>"], false)).toBeUndefined();
    expect(firstWords([], true)).toBeUndefined();
  });

  it("are cut where they are long, and never within a character", () => {
    const cut = firstWords([`${"x".repeat(158)}😀😀`], true)!;
    expect(cut).toBe(`${"x".repeat(158)}…`);
  });
});

describe("a client's title", () => {
  it.each([
    ["Generate a title for this:", '"Tide table"', "Tide table"],
    ["Say what it is about.", '{"isNewTopic": true, "title": "Tide table"}', "Tide table"],
    ["Give it a title.", '```json\n{"title": "Tide table"}\n```', "Tide table"],
    ["Route this.", "flash", undefined],
    ["Give it a title.", "Two\nlines", undefined],
    ["Route this.", '{"model": "flash"}', undefined],
  ])("of %s %s is %s", (asked, reply, title) => {
    expect(clientTitle(asked, reply)).toBe(title);
  });
});

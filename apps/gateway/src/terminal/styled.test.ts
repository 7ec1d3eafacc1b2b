import stringWidth from "string-width";
import { expect, it } from "vitest";
import { graphemeWidth, IS_NARROW, widthOf } from "./styled.ts";

it("takes one column for what counts as narrow at sight, as the tables of Unicode have it", () => {
  const units = Array.from({ length: 0x1_0000 }, (_, unit) => String.fromCharCode(unit));
  const narrow = units.filter((unit) => IS_NARROW.test(unit));
  expect(narrow.length).toBeGreaterThan(1000);
  expect(narrow.filter((unit) => stringWidth(unit) !== 1)).toEqual([]);
  // The signs of the chat itself are among them.
  for (const sign of "…·—→↑↓▰▱▌∴⠋") expect(IS_NARROW.test(sign), sign).toBe(true);
});

it("takes two columns for wide characters and emoji, and what is put on them nothing more", () => {
  for (const grapheme of ["漢", "🎉", "❤️", "👩‍👩‍👧", "🇩🇪"]) expect(graphemeWidth(grapheme)).toBe(2);
  expect(widthOf("e\u0301")).toBe(1);
});

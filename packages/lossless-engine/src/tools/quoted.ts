// Shows what is stored so that nothing in it passes for what a tool says.
import { createHash } from "node:crypto";

/**
 * Exactly the text, between two lines that name a mark which it does not hold: it follows from the
 * text, and nobody can write a text that holds its own.
 */
export function fenced(text: string): string {
  const digits = createHash("sha256").update(text).digest("hex");
  let length = LEAST_DIGITS;
  while (length < digits.length && text.includes(digits.slice(0, length))) length += LEAST_DIGITS;
  const mark = digits.slice(0, length);
  return `<stored ${mark}>\n${text}\n</stored ${mark}>`;
}

const LEAST_DIGITS = 6;

/** The text with its lines but the first set in: only what a tool says begins a line. */
export const setIn = (text: string): string => text.replace(LINE_END, "\n  ");

const LINE_END = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/g;

/** On one line, with what nobody would see or what turns the line around written out. */
export const onOneLine = (text: string): string =>
  text.replace(UNSEEN, (unseen) => unseen.split("").map(escapeOf).join(""));

/** As JSON escapes it. */
const escapeOf = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;

const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** A name, in quotes where it is not one plain word, and no longer than names are. */
export function nameShown(name: string): string {
  if (PLAIN.test(name)) return name;
  const shown = name.length > LONGEST ? `${name.slice(0, LONGEST)}…` : name;
  return onOneLine(JSON.stringify(shown));
}

const LONGEST = 200;
const PLAIN = /^[\p{L}\p{M}\p{N}_./\\:@~+-]{1,200}$/u;

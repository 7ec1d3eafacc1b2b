// Shows unchecked words so that nothing in them hides, steers or reorders what is read.

/** Control and format characters, line ends, and what is not seen at all. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

const SHORT: Record<string, string> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** One line, with such characters as JSON escapes them. */
export const visible = (text: string): string =>
  text.replace(UNSEEN, (character) => SHORT[character] ?? escaped(character));

const escaped = (character: string): string =>
  character
    .split("")
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("");

/** JSON of the same value; with `indent` a line for each member. */
export const visibleJson = (value: unknown, indent = 0): string =>
  JSON.stringify(value, null, indent).split("\n").map(visible).join("\n");

// Shows a part of a stored text, and says where it goes on.
import { fenced, onOneLine } from "./quoted.ts";
import { type SliceRequest, sliceOf } from "./slice.ts";

/** A part as it is shown. */
export interface Part {
  readonly shown: string;
  /** True: more was asked for than there is room for. */
  readonly isCut: boolean;
}

/** `next`: arguments that ask for the same text. */
export function partOf(
  text: string,
  { asked, next, room }: { asked: SliceRequest; next: object; room: number },
): Part {
  if (text === "") return { shown: "(no text)", isCut: false };
  const { shown, from, to, isCut } = sliceOf(text, asked, room);
  if (shown === "") {
    const lines = text.split("\n").length;
    const has = `the text has ${text.length} characters, ${lines} lines`;
    return { shown: `(Nothing stands there: ${has}.)`, isCut: false };
  }
  if (from === 0 && to === text.length) return { shown: fenced(shown), isCut };
  const { toLine } = asked;
  const rest = { ...next, offset: to, ...(toLine !== undefined && { toLine }) };
  const more = isCut ? `; to go on: ${argumentsShown(rest)}` : "";
  return {
    shown: `${fenced(shown)}\nCharacters ${from} to ${to} of ${text.length}${more}.`,
    isCut,
  };
}

/** Arguments of a call, as a model gives them back. */
export const argumentsShown = (asked: object): string => onOneLine(JSON.stringify(asked));

// Says whether a text that is to be forgotten stands in something.
import { textsIn } from "../messages/placeholder.ts";

/** A text in any case, or a regular expression. */
export type Matcher = string | RegExp;

/** Texts of any depth are looked at, each for itself. */
export function isMatched(value: unknown, matcher: Matcher): boolean {
  const texts = textsIn(value);
  if (typeof matcher !== "string") {
    // One with state would go on where it stopped.
    const pattern = new RegExp(matcher.source, matcher.flags.replaceAll(/[gy]/g, ""));
    return texts.some((text) => pattern.test(text));
  }
  const wanted = folded(matcher);
  return wanted !== "" && texts.some((text) => folded(text).includes(wanted));
}

const folded = (text: string) => text.normalize("NFC").toLowerCase();

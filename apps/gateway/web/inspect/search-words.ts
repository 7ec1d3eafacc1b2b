// What a person means by the words in the search box.
import { placeInWords, twoCallsInWords } from "../../src/inspect/call-words.ts";
import { nameOfPlace } from "./place.ts";

export type Sought =
  | { kind: "nothing" }
  /** A call, or the first one of a turn; `from`: what it is compared with; null = not said. */
  | { kind: "call"; id: string; from: string | null }
  | { kind: "entry"; number: number }
  | { kind: "text"; text: string };

/**
 * Pure. "58.3" and "t58 c3" are a call, "t58" a turn, "57.1..58.3" what differs between two calls,
 * "#1241" an entry, anything else a text; in quotes it is always a text.
 */
export function soughtBy(words: string): Sought {
  const text = words.trim();
  if (text === "") return { kind: "nothing" };
  const place = placeInWords(text);
  if (place !== null) return { kind: "call", id: nameOfPlace(place), from: null };
  const two = twoCallsInWords(text);
  if (two !== null) return { kind: "call", id: nameOfPlace(two[1]), from: nameOfPlace(two[0]) };
  const entry = /^(?:#|entry\s+)(\d+)$/i.exec(text);
  if (entry !== null) return { kind: "entry", number: Number(entry[1]) };
  const quoted = /^"(.+)"$/.exec(text);
  return { kind: "text", text: quoted?.[1] ?? text };
}

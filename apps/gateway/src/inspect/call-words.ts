// Which call or turn a person means by a few words.
import type { PlacedCall } from "./placed-call.ts";

/** `number`: null = the turn as a whole. */
export interface NamedPlace extends Pick<PlacedCall, "turn"> {
  number: number | null;
}

/** In each the turn is called `turn` and the call `call`, whichever comes first. */
const FORMS = [
  /^(?:call\s*)?(?<turn>\d{1,9})\.(?<call>\d{1,9})$/i,
  /^(?:turn|t)\s*(?<turn>\d{1,9})(?:[\s,./:-]*(?:call|c)\s*(?<call>\d{1,9}))?$/i,
  /^(?:call|c)\s*(?<call>\d{1,9})\s*(?:of|in)?\s*(?:turn|t)\s*(?<turn>\d{1,9})$/i,
];

/**
 * Pure. "58.3", "t58 c3", "turn 58, call 3" and "call 3 of turn 58" name a call, "t58" and "turn
 * 58" a turn. Null: they name neither.
 */
export function placeInWords(words: string): NamedPlace | null {
  const text = words.trim();
  for (const form of FORMS) {
    const { turn, call } = form.exec(text)?.groups ?? {};
    if (turn !== undefined)
      return { turn: Number(turn), number: call === undefined ? null : Number(call) };
  }
  return null;
}

const BETWEEN = /\s*(?:\.\.\.?|…|→|->|\s(?:to|vs\.?|and|with|against)\s)\s*|\s+/i;

/** Pure. "57.1..58.3", "57.1 vs 58.3", "57.1 58.3": two calls, as they were named. */
export function twoCallsInWords(words: string): [NamedPlace, NamedPlace] | null {
  const text = words.trim().replace(/^(?:diff|compare)\s+/i, "");
  const [one = "", other = "", ...more] = text.split(BETWEEN);
  const [from, to] = [placeInWords(one), placeInWords(other)];
  if (more.length > 0 || from === null || to === null) return null;
  return from.number === null || to.number === null ? null : [from, to];
}

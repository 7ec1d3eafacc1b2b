// Says what does not fit, whatever the wire.
import type { Overflow } from "./door-wire.ts";

/** Tokens of the prompt and of what is kept for its reply. */
export const takenBy = ({ tokens, reply = 0 }: Overflow): number => tokens + reply;

/** Begins with a space; empty when nothing is kept for the reply. Both as their wire calls them. */
export const partsOf = (
  { tokens, reply = 0 }: Overflow,
  [prompt, answer]: readonly [string, string],
): string => (reply === 0 ? "" : ` (${tokens} in the ${prompt}, ${reply} in the ${answer})`);

/** Begins with a space; empty when system prompt and tools are less than half of the window. */
export const fixedSentence = ({ window, fixedTokens }: Overflow): string =>
  fixedTokens * 2 < window
    ? ""
    : ` System prompt and tools alone take ${fixedTokens} of them, which no view of the history can shorten: use a larger window or fewer tools.`;

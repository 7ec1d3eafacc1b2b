// Says when it is not the history that does not fit.
import type { Overflow } from "./door-wire.ts";

/** Begins with a space; empty when system prompt and tools are less than half of the window. */
export const fixedSentence = ({ window, fixedTokens }: Overflow): string =>
  fixedTokens * 2 < window
    ? ""
    : ` System prompt and tools alone take ${fixedTokens} of them, which no view of the history can shorten: use a larger window or fewer tools.`;

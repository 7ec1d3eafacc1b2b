// Reads the numbers that stand in an address.
import { ContextEngineError } from "@clew/plugin-sdk/core";

/** A number of 0 or more, where one is given. Throws REQUEST_INVALID for anything else. */
export const placeOf = (name: string, text: string | undefined): number | undefined =>
  text === undefined ? undefined : wholeNumber(name, text, 0);

/**
 * What `limit` says, and no more than `most`: the next page holds the rest. Throws REQUEST_INVALID
 * for what is no number above 0.
 */
export const limitOf = (
  text: string | undefined,
  { standard, most = Infinity }: { standard: number; most?: number },
): number => (text === undefined ? standard : Math.min(most, wholeNumber("limit", text, 1)));

function wholeNumber(name: string, text: string, least: 0 | 1): number {
  const number = /^\d+$/.test(text) ? Number(text) : -1;
  if (number >= least) return number;
  throw new ContextEngineError(
    "REQUEST_INVALID",
    `${name}=${text} is no number to go by; give a whole number from ${least} on, or leave it out.`,
  );
}

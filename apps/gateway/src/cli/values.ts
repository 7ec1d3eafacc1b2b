// Reads what is given to options of several commands.
import { InvalidArgumentError } from "commander";
import { SMALLEST_WINDOW } from "../inspect/smallest-window.ts";

/** For the help of arguments that name a session. */
export const SESSION_NAME = "short name, name of your own, or agent:<agent>:<name>";

export function toPort(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535)
    throw new InvalidArgumentError("must be a number from 0 to 65535.");
  return port;
}

/** A context window for a session that is played again. */
export function toWindow(text: string): number {
  const tokens = toCount(text);
  if (tokens < SMALLEST_WINDOW)
    throw new InvalidArgumentError(`must be a whole number of at least ${SMALLEST_WINDOW}.`);
  return tokens;
}

export function toCount(text: string): number {
  const count = Number(text);
  if (!/^\d+$/.test(text) || count === 0 || !Number.isSafeInteger(count))
    throw new InvalidArgumentError("must be a whole number above 0.");
  return count;
}

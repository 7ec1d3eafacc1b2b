// Waits for a whole round of the event loop, in which all that has happened by now is seen.
import { setImmediate as restOfRound } from "node:timers/promises";

/** Such as: a client has closed its connection. */
export async function wholeRound(): Promise<void> {
  await restOfRound();
  await restOfRound();
}

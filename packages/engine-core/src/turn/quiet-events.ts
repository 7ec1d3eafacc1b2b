// Keeps a listener that throws from ending the turn it listens to.
import { describeError } from "../engine/quarantine.ts";
import type { TurnEvent, TurnRequest } from "./turn-request.ts";

/** Tells the host's listener, which may throw; the log says so once a turn. */
export function quietEvents({ onEvent, ports }: TurnRequest): (event: TurnEvent) => void {
  let isKnown = false;
  const note = (error: unknown) => {
    if (!isKnown) ports.log.warn(`the turn's onEvent threw: ${describeError(error)}`);
    isKnown = true;
  };
  return (event) => {
    try {
      const told: unknown = onEvent?.(event);
      // The type takes an async function, too.
      if (told instanceof Promise) told.catch(note);
    } catch (error) {
      note(error);
    }
  };
}

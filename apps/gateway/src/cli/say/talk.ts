// What saying something in a session is to the command line, whoever holds the session.
import type { TurnResult } from "@clew/engine-core";
import { EXIT } from "../../terminal/exit-codes.ts";

export interface Talk {
  /** Resolves with how its turn ended; prints what is told of it meanwhile. */
  say(text: string): Promise<TurnResult["outcome"]>;
  /** While a reply is being written: what is typed waits, and commands are answered. */
  sayMeanwhile(text: string): Promise<void>;
  /** Resolves when nothing that was said waits any more. */
  settled(): Promise<void>;
  isTalking(): boolean;
  /** False when nothing is running. */
  cancel(): boolean;
}

export function exitCodeOf(outcome: TurnResult["outcome"]): number {
  if (outcome === "completed") return EXIT.done;
  return outcome === "aborted" ? EXIT.cancelled : EXIT.failed;
}

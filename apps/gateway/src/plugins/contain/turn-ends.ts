// Tells whoever watches the process whether turns still come to an end of their own.
import type { TurnResult } from "@clew/engine-core";
import { ContextEngineError, isAbort } from "@clew/plugin-sdk/core";

/** "broken": by an error that nobody expects. */
export type TurnEnd = "completed" | "broken";

let tell: (end: TurnEnd) => void = () => {};

/** From now on `told` is told of every turn that a person asked for. */
export function watchTurns(told: typeof tell): void {
  tell = told;
}

/** Runs a turn, and counts how it ends. */
export async function watchedTurn<Result extends { outcome: string }>(
  run: () => Promise<Result>,
): Promise<Result> {
  try {
    const result = await run();
    if (result.outcome === "completed") tell("completed");
    else if (isBrokenResult(result as Partial<TurnResult>)) tell("broken");
    return result;
  } catch (error) {
    if (!ContextEngineError.is(error) && !isAbort(error)) tell("broken");
    throw error;
  }
}

/** What has a code was expected, such as a disk that is full. */
const isBrokenResult = ({ outcome, error }: Partial<TurnResult>) =>
  outcome === "failed" && error?.kind === "host" && error.code === undefined;

// Undoes what an engine prepared for a child session that was given up meanwhile.
import type { SubagentPreparation } from "@clew/plugin-sdk/core";
import { within } from "@clew/plugin-sdk/host";
import { engineTimeout } from "./bounds.ts";
import { describeError } from "./describe-error.ts";
import { takeResult } from "./results.ts";
import type { Guarded } from "./scope-state.ts";

/** Never throws: nobody waits for it, so what goes wrong is logged. */
export async function undoLatePreparation(
  { engineId, bounds, log, run }: Guarded,
  answer: unknown,
): Promise<void> {
  const boundMs = bounds.prepareSubagentSpawn;
  const onTimeout = () => {
    throw engineTimeout(engineId, "the rollback of prepareSubagentSpawn", boundMs);
  };
  try {
    const taken = run(() => takeResult("prepareSubagentSpawn", answer));
    if (!taken.ok) throw new Error(taken.problem);
    const preparation = taken.value as SubagentPreparation | undefined;
    await within<unknown>({ boundMs, onTimeout }, () => run(() => preparation?.rollback()));
  } catch (error) {
    log.warn(
      `engine "${engineId}": a late preparation was not rolled back: ${describeError(error)}`,
    );
  }
}

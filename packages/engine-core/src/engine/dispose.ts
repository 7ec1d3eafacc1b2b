// Ends an engine, or half of one, within a bound.
import { within } from "@clew/plugin-sdk/host";
import type { LogPort } from "../ports.ts";
import { engineTimeout } from "./bounds.ts";
import { describeError } from "./describe-error.ts";

/** Never throws: what goes wrong is logged, as nothing is left to save. */
export async function disposeEngine(
  engine: unknown,
  engineId: string,
  boundMs: number,
  log: LogPort,
): Promise<void> {
  const onTimeout = () => {
    throw engineTimeout(engineId, "dispose", boundMs);
  };
  try {
    await within<unknown>({ boundMs, onTimeout }, () =>
      (engine as { dispose?: () => unknown } | null | undefined)?.dispose?.(),
    );
  } catch (error) {
    log.warn(`engine "${engineId}": dispose failed: ${describeError(error)}`);
  }
}

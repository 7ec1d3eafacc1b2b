// Lets a memory plugin give back what its managers hold.
import type { LogPort } from "@clew/engine-core";
import { within } from "@clew/plugin-sdk/host";
import { messageOf } from "../invalid.ts";
import type { RunAs } from "../load/running.ts";
import type { ActiveMemory } from "./choose-memory.ts";

/** ms. */
const CLOSE_MS = 3_000;

/** Never rejects. */
export async function closeMemory(
  { chosen }: ActiveMemory,
  { runAs, log }: { runAs: RunAs; log: LogPort },
): Promise<void> {
  if (chosen === null) return;
  const { pluginId, capability } = chosen;
  const onTimeout = () => {
    throw new Error(`not finished within ${CLOSE_MS / 1000} s`);
  };
  try {
    await within<unknown>({ boundMs: CLOSE_MS, onTimeout }, () =>
      runAs(pluginId, () => capability.runtime?.closeAllMemorySearchManagers?.()),
    );
  } catch (error) {
    log.warn(`[plugins] ${pluginId}: its memory could not be closed: ${messageOf(error)}`);
  }
}

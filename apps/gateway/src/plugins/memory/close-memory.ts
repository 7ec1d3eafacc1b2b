// Lets a memory plugin give back what its managers hold.
import type { LogPort } from "@clew/engine-core";
import type { MemorySearchManager } from "@clew/plugin-sdk/core";
import { within } from "@clew/plugin-sdk/host";
import { messageOf } from "../invalid.ts";
import type { RunAs } from "../load/running.ts";
import type { ActiveMemory, OwnedMemory } from "./choose-memory.ts";
import { type Managers, managersOf } from "./managers.ts";

/** Of the managers together, and of what the plugin does after them; ms. */
const CLOSE_MS = 2_000;

interface Closing {
  runAs: RunAs;
  log: LogPort;
}

/** Never rejects. */
export async function closeMemory({ chosen }: ActiveMemory, closing: Closing): Promise<void> {
  if (chosen === null) return;
  const managers = openManagers(chosen, closing).takeAll();
  await Promise.all(managers.map((manager) => closeManager(chosen, manager, closing)));
  await close(chosen, closing, () => chosen.capability.runtime?.closeAllMemorySearchManagers?.());
}

/** Those that a memory gave; one that it replaced is closed. */
export const openManagers = (memory: OwnedMemory, closing: Closing): Managers =>
  managersOf(memory, (manager) => void closeManager(memory, manager, closing));

const closeManager = (memory: OwnedMemory, manager: MemorySearchManager, closing: Closing) =>
  close(memory, closing, () => manager.close?.());

async function close(
  { pluginId }: OwnedMemory,
  { runAs, log }: Closing,
  work: () => unknown,
): Promise<void> {
  const onTimeout = () => {
    throw new Error(`not finished within ${CLOSE_MS / 1000} s`);
  };
  try {
    await within<unknown>({ boundMs: CLOSE_MS, onTimeout }, async () => runAs(pluginId, work));
  } catch (error) {
    log.warn(`[plugins] ${pluginId}: its memory could not be closed: ${messageOf(error)}`);
  }
}

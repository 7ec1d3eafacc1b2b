// Which driver speaks an api: the table of all drivers.
import { offline } from "./drivers/offline.ts";
import { openaiCompletions } from "./drivers/openai-completions.ts";
import type { Driver } from "./provider.ts";

const DRIVERS: ReadonlyMap<string, Driver> = new Map(
  [openaiCompletions, offline].map((driver: Driver) => [driver.api, driver]),
);

/** Every api a driver exists for, e.g. "openai-completions". */
export const DRIVER_APIS: readonly string[] = [...DRIVERS.keys()];

/** The driver of `api` (`ModelRef.api`), or undefined when there is none. */
export function findDriver(api: string): Driver | undefined {
  return DRIVERS.get(api);
}

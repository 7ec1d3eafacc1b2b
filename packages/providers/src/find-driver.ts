// Which driver speaks an api.
import { DRIVER_TABLE } from "./driver-table.ts";
import type { Driver } from "./provider.ts";

const DRIVERS: ReadonlyMap<string, Driver> = new Map(
  DRIVER_TABLE.map((driver) => [driver.api, driver]),
);

/** Every api a driver exists for, e.g. "openai-completions". */
export const DRIVER_APIS: readonly string[] = [...DRIVERS.keys()];

/** The driver of `api` (`ModelRef.api`), or undefined when there is none. */
export function findDriver(api: string): Driver | undefined {
  return DRIVERS.get(api);
}

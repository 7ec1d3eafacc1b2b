// What a model's tokens cost by the settings as they are now.
import type { Prices } from "../costs/prices.ts";
import type { Host } from "../host/host.ts";

/** Null: not known, or the settings do not name the model any more. */
export function pricesNow(host: Pick<Host, "namedModel">, model: string): Prices | null {
  try {
    return host.namedModel(model).prices;
  } catch {
    return null;
  }
}

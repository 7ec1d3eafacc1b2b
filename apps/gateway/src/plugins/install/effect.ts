// When a change to plugins takes effect.
import { describeMissing, type GatewayLookup } from "../../gateway-client.ts";

/** Pure. */
export function effectNote(lookup: GatewayLookup): string {
  if (lookup.kind === "running")
    return `A gateway is running at ${lookup.gateway.url}: "clew plugins reload" makes it effective there, between two runs; a restart is not needed.`;
  const missing = describeMissing(lookup);
  return `${missing[0]?.toUpperCase()}${missing.slice(1)}; it is effective from the next start.`;
}

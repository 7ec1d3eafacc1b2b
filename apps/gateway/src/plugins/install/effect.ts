// When a change to plugins takes effect.
import { describeMissing, type GatewayLookup } from "../../gateway-client.ts";

/** Pure. */
export function effectNote(lookup: GatewayLookup): string {
  if (lookup.kind === "running")
    return `A gateway is running at ${lookup.gateway.url}: "clew plugins reload" applies the change there, without a restart or a pause.`;
  const missing = describeMissing(lookup);
  return `${missing[0]?.toUpperCase()}${missing.slice(1)}; the change takes effect at the next start.`;
}

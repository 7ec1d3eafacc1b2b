// Checks whether a running gateway answers sessions that it could not store.
import type { GatewayLookup } from "../gateway-client.ts";
import { describeUnstored } from "../running-unstored.ts";
import type { Finding } from "./finding.ts";

export function checkUnstored(lookup: GatewayLookup): Finding[] {
  if (lookup.kind !== "running") return [];
  return describeUnstored(lookup.gateway).map((text) => ({
    ...{ level: "warning", code: "door-unstored", subject: "door" },
    text,
  }));
}

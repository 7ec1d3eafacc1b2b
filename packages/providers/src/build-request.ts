// Builds the HTTP request of one model call, by the driver of the model's api.
import { ContextEngineError } from "@clew/plugin-sdk/core";
import type { ModelCall } from "@clew/plugin-sdk/host";
import { DRIVER_APIS, findDriver } from "./find-driver.ts";
import type { Endpoint, WireRequest } from "./provider.ts";
import { unknownFlavor } from "./shared/flavor.ts";

/**
 * The request of `call` as bytes on the wire; pure and deterministic, so a stored call can be
 * rebuilt byte for byte. Throws CONFIG_INVALID when no driver speaks the model's api, or when its
 * model runs in this process and has no wire, or the endpoint names an unknown flavor.
 */
export function buildRequest(call: ModelCall, endpoint: Endpoint): WireRequest {
  const driver = findDriver(call.model.api);
  const flaw = unknownFlavor(endpoint);
  if (flaw !== undefined) throw new ContextEngineError("CONFIG_INVALID", flaw);
  if (driver?.kind === "wire") return driver.buildRequest(call, endpoint);
  throw new ContextEngineError(
    "CONFIG_INVALID",
    driver === undefined ? unknownApi(call.model.api) : noWire(call.model.api),
  );
}

/** The body of a request as an object, to look into it or to check it against a vendor's types. */
export const bodyOf = ({ body }: WireRequest): unknown => JSON.parse(body);

/** One sentence for an api nobody speaks. */
export function unknownApi(api: string): string {
  return `No driver speaks the model api "${api}"; use one of ${DRIVER_APIS.join(", ")}.`;
}

function noWire(api: string): string {
  return `The model api "${api}" runs in this process and sends no request; stream it instead.`;
}

// In which header a provider wants its key.
import { findProvider, type ModelRef } from "@clew/plugin-sdk/host";
import type { Endpoint } from "../provider.ts";
import { serverAt } from "./flavor.ts";
import { bearer } from "./headers.ts";

/** Entra and other issuers give out JSON web tokens; keys do not look like them. */
const TOKEN = /^eyJ[\w-]+\./;

/** `usual`: the header of the api, for providers that have no way of their own. */
export function keyHeader(
  { provider }: Pick<ModelRef, "provider">,
  endpoint: Endpoint,
  usual: "bearer" | "x-api-key" = "bearer",
): Record<string, string> {
  const { apiKey } = endpoint;
  if (apiKey === undefined) return {};
  const { keyIn = usual } = serverAt(endpoint) ?? findProvider(provider) ?? {};
  return keyIn === "bearer" || TOKEN.test(apiKey) ? bearer(endpoint) : { [keyIn]: apiKey };
}

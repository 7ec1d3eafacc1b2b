// Says that no key is set, where a provider that was sent none refused it.
import type { ModelError } from "@clew/plugin-sdk/host";
import { keyNames } from "../config/environment.ts";
import type { ResolvedModel } from "./resolve.ts";

const HOLD_A_KEY = /^(?:authorization|proxy-authorization|.*api-?key|.*token)$/i;

/** Pure. The error as it is where a key was sent, or something else went wrong. */
export function explainMissingKey(
  error: ModelError,
  { model: { provider }, endpoint, access }: Pick<ResolvedModel, "model" | "endpoint" | "access">,
): ModelError {
  const sent =
    endpoint.apiKey !== undefined ||
    access.source !== undefined ||
    Object.keys(endpoint.headers ?? {}).some((name) => HOLD_A_KEY.test(name));
  if (error.kind !== "auth" || sent) return error;
  const names = keyNames(provider).join(" or ");
  return {
    ...error,
    message: `Provider "${provider}" wants a key and none is set: set ${names}, or models.providers.${provider}.apiKey. ${error.message}`,
  };
}

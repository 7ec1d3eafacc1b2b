// What a Responses server says of a call besides its reply.
import { isRecord, type ProviderTold } from "@clew/plugin-sdk/host";

/** Why its cache was missed. */
export function toldIn({
  prompt_cache_diagnostics: diagnostics,
}: Readonly<Record<string, unknown>>): ProviderTold {
  if (!isRecord(diagnostics) || diagnostics.type !== "cache_miss") return {};
  const { reason, cache_missed_tokens: tokens } = diagnostics;
  return {
    cacheMiss: {
      reason: typeof reason === "string" ? reason : "cache_miss",
      ...(typeof tokens === "number" && { tokens }),
    },
  };
}

// What a Messages server says of a call besides its reply.
import { isRecord, type ProviderTold } from "@clew/plugin-sdk/host";

/** Why its cache was missed, and what it left out before the model read the request. */
export function toldIn({
  diagnostics,
  input_transformations: transformations,
}: Readonly<Record<string, unknown>>): ProviderTold {
  const miss = isRecord(diagnostics) ? diagnostics.cache_miss_reason : undefined;
  const changes = (Array.isArray(transformations) ? transformations : []).flatMap(describe);
  return {
    ...(isRecord(miss) &&
      typeof miss.type === "string" && {
        cacheMiss: {
          reason: miss.type,
          ...(typeof miss.cache_missed_input_tokens === "number" && {
            tokens: miss.cache_missed_input_tokens,
          }),
        },
      }),
    ...(changes.length > 0 && { changes }),
  };
}

const describe = (change: unknown): string[] =>
  isRecord(change) && typeof change.type === "string"
    ? [
        [change.type, change.path, change.reason]
          .filter((part) => typeof part === "string")
          .join(" "),
      ]
    : [];

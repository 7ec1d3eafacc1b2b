// What a Messages server says of a call besides its reply.
import { isRecord, type ProviderTold } from "@clew/plugin-sdk/host";

/** Why its cache was missed, and what it left out before the model read the request. */
export function toldIn({
  diagnostics,
  input_transformations: transformations,
  context_management: managed,
}: Readonly<Record<string, unknown>>): ProviderTold {
  const miss = isRecord(diagnostics) ? diagnostics.cache_miss_reason : undefined;
  const edits = isRecord(managed) ? managed.applied_edits : undefined;
  const changes = [...listOf(transformations).flatMap(describe), ...listOf(edits).flatMap(edited)];
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

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const edited = (edit: unknown): string[] => {
  if (!isRecord(edit) || typeof edit.type !== "string") return [];
  const { cleared_tool_uses: uses, cleared_input_tokens: tokens } = edit;
  const what = typeof uses === "number" ? [`${uses} tool uses`] : [];
  const size = typeof tokens === "number" ? [`${tokens} tokens`] : [];
  return [[edit.type, ...what, ...size].join(" ")];
};

const describe = (change: unknown): string[] =>
  isRecord(change) && typeof change.type === "string"
    ? [
        [change.type, change.path, change.reason]
          .filter((part) => typeof part === "string")
          .join(" "),
      ]
    : [];

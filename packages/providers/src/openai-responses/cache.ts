// What a Responses call asks of the prompt cache.
import type { ModelCall, ModelProfile } from "@clew/plugin-sdk/host";

/** The fields, and whether what is expected to stay is marked. */
export interface ResponsesCache {
  fields: Readonly<Record<string, unknown>>;
  marks: boolean;
}

/**
 * A key leads a session to its warm cache. Where what is kept is paid for, places can be marked,
 * and nothing is kept that nobody asks for; before that, a longer time can be asked for.
 */
export function planCache(
  { sessionId, cache, previousResponseId }: ModelCall,
  { cache: { marks, longMs } }: ModelProfile,
): ResponsesCache {
  const retention = cache?.retention ?? "short";
  const takesMarks = marks > 0;
  if (retention === "none")
    // It keeps what is marked only, and nothing is.
    return {
      fields: takesMarks ? { prompt_cache_options: { mode: "explicit" } } : {},
      marks: false,
    };
  const options = {
    ...(retention === "long" && { ttl: "30m" }),
    ...(previousResponseId !== undefined && { comparison_response_id: previousResponseId }),
  };
  const hasOptions = takesMarks && Object.keys(options).length > 0;
  return {
    fields: {
      ...(sessionId !== undefined && { prompt_cache_key: sessionId.slice(0, LONGEST_KEY) }),
      ...(hasOptions && { prompt_cache_options: options }),
      ...(!takesMarks &&
        retention === "long" &&
        longMs !== null && { prompt_cache_retention: "24h" }),
    },
    marks: takesMarks && (cache?.stableMessages ?? 0) > 0,
  };
}

const LONGEST_KEY = 64;

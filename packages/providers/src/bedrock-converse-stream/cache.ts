// Marks up to where the provider shall keep a prompt.
import type { ModelCall, ModelProfile } from "@clew/plugin-sdk/host";

/** A block of its own, behind what it marks. */
export interface CachePoint {
  cachePoint: { type: "default"; ttl?: "1h" };
}

/** The mark of each place; undefined where none may stand. */
export interface CachePlan {
  tools: CachePoint | undefined;
  system: CachePoint | undefined;
  /** Behind what the caller expects to stay, and behind the newest message. */
  messages: CachePoint | undefined;
}

const PLACES = 4;
const NOTHING: CachePlan = { tools: undefined, system: undefined, messages: undefined };

/**
 * Marks at tools, system prompt, what the caller expects to stay, and the newest message. A model
 * that takes fewer marks than places takes none behind tools and their results, and gets the one
 * that is worth most. All are kept for one time, because a longer one may not follow a shorter one.
 */
export function planCache({ cache }: ModelCall, profile: ModelProfile): CachePlan {
  const { how, marks, longMs } = profile.cache;
  const retention = cache?.retention ?? "short";
  if (how !== "marks" || marks === 0 || retention === "none") return NOTHING;
  const isLong = retention === "long" && longMs !== null;
  const point: CachePoint = {
    cachePoint: { type: "default", ...(isLong && { ttl: "1h" as const }) },
  };
  return marks < PLACES
    ? { ...NOTHING, system: point }
    : { tools: point, system: point, messages: point };
}

// Marks up to where the provider shall keep a prompt.
import type { ModelCall, ModelProfile } from "@clew/plugin-sdk/host";

/** What is spread into a block to mark it; no fields where nothing shall be kept. */
export interface CacheMark {
  cache_control?: { type: "ephemeral"; ttl?: "1h" };
}

/**
 * The mark of every place in a request: tools, system prompt, what the caller expects to stay, and
 * the newest message. All are kept for one time, because a longer one may not follow a shorter one
 * and what is kept for long is worth nothing without what stands before it.
 */
export function cacheMark({ cache }: ModelCall, profile: ModelProfile): CacheMark {
  const { how, marks, longMs } = profile.cache;
  const retention = cache?.retention ?? "short";
  if (how !== "marks" || marks < PLACES || retention === "none") return {};
  const isLong = retention === "long" && longMs !== null;
  return { cache_control: { type: "ephemeral", ...(isLong && { ttl: "1h" as const }) } };
}

const PLACES = 4;

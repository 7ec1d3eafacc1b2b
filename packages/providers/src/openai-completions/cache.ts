// What a Chat Completions call asks of the prompt cache.
import type { ModelCall, ModelProfile } from "@clew/plugin-sdk/host";
import type { ChatFlavor } from "./flavors.ts";
import type { ChatMessage, ChatPart } from "./wire.ts";

/** The mark of a place in a request that a router passes on. */
export interface ChatMark {
  type: "ephemeral";
  ttl?: "1h";
}

/** Where a request is marked, and how. */
export interface ChatMarks {
  mark: ChatMark;
  /** How many messages from the first on are expected to stay; 0 = not told. */
  stableMessages: number;
}

/**
 * Marks what the caller expects to stay and the newest message; undefined where no marks are taken.
 * Tools and system prompt stand before both. All are kept for one time, because a longer one may
 * not follow a shorter one.
 */
export function chatMarks({ cache }: ModelCall, profile: ModelProfile): ChatMarks | undefined {
  const { how, longMs } = profile.cache;
  const retention = cache?.retention ?? "short";
  if (how !== "marks" || retention === "none") return undefined;
  const isLong = retention === "long" && longMs !== null;
  return {
    mark: { type: "ephemeral", ...(isLong && { ttl: "1h" }) },
    stableMessages: cache?.stableMessages ?? 0,
  };
}

/** Which session asks, so that it finds its warm cache, and how long that stays warm. */
export function cacheFields(
  { sessionId, cache }: ModelCall,
  { promptCacheKey }: ChatFlavor,
  profile: ModelProfile,
): { prompt_cache_key?: string; prompt_cache_retention?: string } {
  if (!promptCacheKey || cache?.retention === "none") return {};
  const isLong = cache?.retention === "long" && (profile.cache.longMs ?? 0) >= DAY_MS;
  return {
    ...(sessionId !== undefined && { prompt_cache_key: sessionId.slice(0, LONGEST_KEY) }),
    ...(isLong && { prompt_cache_retention: "24h" }),
  };
}

const DAY_MS = 86_400_000;
const LONGEST_KEY = 64;

/** With the mark on its last text; the same message where there is none. */
export function markedMessage(
  message: ChatMessage,
  mark: ChatMark | undefined,
): ChatMessage | Record<string, unknown> {
  if (mark === undefined) return message;
  const content = markedContent(message.content, mark);
  return content === undefined ? message : { ...message, content };
}

/** Undefined: it holds no text. */
function markedContent(
  content: string | readonly ChatPart[] | null,
  mark: ChatMark,
): Record<string, unknown>[] | undefined {
  const parts: readonly ChatPart[] =
    typeof content === "string" ? [{ type: "text", text: content }] : (content ?? []);
  const at = parts.findLastIndex((part) => part.type === "text" && part.text.trim() !== "");
  return at < 0
    ? undefined
    : parts.map((part, index) => (index === at ? { ...part, cache_control: mark } : { ...part }));
}

// Exact token counts by tiktoken's o200k_base, loaded on first use.
import { byteBound, type TokenCounter } from "./counter.ts";
import { cutRuns } from "./runs.ts";

/**
 * A counter that holds a tokeniser (about 85 MB): call `free` when done;
 * counting afterwards throws.
 */
export interface ExactCounter extends TokenCounter {
  /** Lets go of the tokeniser; may be called twice. */
  free(): void;
}

/** What an exact counter remembers. */
export interface ExactCounterOptions {
  /**
   * Characters of text whose counts are remembered, the least recently used forgotten first; 0 =
   * none. Absent: 8,000,000.
   */
  rememberedChars?: number;
}

/**
 * Loads the o200k_base tokeniser (about 0.2 s) and returns a counter of ordinary text: special
 * tokens in it are counted as text. Runs that no tokeniser can cut are cut every 256 characters, so
 * that time is linear; such counts may be a little above the exact one.
 */
export async function loadExactCounter(options: ExactCounterOptions = {}): Promise<ExactCounter> {
  const { get_encoding } = await import("tiktoken");
  const encoding = get_encoding("o200k_base");
  const remembered = recentCounts(options.rememberedChars ?? 8_000_000);
  let freed = false;
  return {
    id: "tiktoken/o200k_base",
    bound: byteBound,
    count(text) {
      if (freed)
        throw new Error(
          "This exact token counter was freed; load another one with loadExactCounter().",
        );
      const before = remembered.get(text);
      if (before !== undefined) return before;
      let tokens = 0;
      for (const piece of cutRuns(text)) tokens += encoding.encode_ordinary(piece).length;
      remembered.set(text, tokens);
      return tokens;
    },
    free() {
      if (freed) return;
      freed = true;
      remembered.clear();
      encoding.free();
    },
  };
}

interface RecentCounts {
  get(text: string): number | undefined;
  set(text: string, tokens: number): void;
  clear(): void;
}

/**
 * Counts by text, least recently used out first; bounded by the characters held, because texts
 * differ in size by millions.
 */
export function recentCounts(limitChars: number): RecentCounts {
  const counts = new Map<string, number>();
  let chars = 0;
  return {
    get(text) {
      const tokens = counts.get(text);
      if (tokens === undefined) return undefined;
      counts.delete(text);
      counts.set(text, tokens);
      return tokens;
    },
    set(text, tokens) {
      if (text.length > limitChars || counts.has(text)) return;
      counts.set(text, tokens);
      chars += text.length;
      for (const oldest of counts.keys()) {
        if (chars <= limitChars) break;
        counts.delete(oldest);
        chars -= oldest.length;
      }
    },
    clear() {
      counts.clear();
      chars = 0;
    },
  };
}

// Exact token counts by tiktoken's o200k_base, loaded on first use where it is installed.
import { byteBound, estimator, type TokenCounter } from "./counter.ts";
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
  /**
   * Told in a sentence that tiktoken is not installed; the counter then estimates, and its `id`
   * says so. Absent: an error says it.
   */
  onMissing?: (sentence: string) => void;
}

const MISSING =
  'Exact token counts need the package "tiktoken", which is not installed: run "npm install tiktoken" where @clew/plugin-sdk is installed, or count by estimates.';

/**
 * Loads the o200k_base tokeniser (about 0.2 s) and returns a counter of ordinary text: special
 * tokens in it are counted as text. Runs that no tokeniser can cut are cut every 256 characters, so
 * that time is linear; such counts may be a little above the exact one. tiktoken is an optional
 * peer of this package: where it is missing, this throws a sentence, or estimates (`onMissing`).
 */
export async function loadExactCounter(options: ExactCounterOptions = {}): Promise<ExactCounter> {
  const tiktoken = await importTokeniser();
  if (tiktoken === null) {
    if (options.onMissing === undefined) throw new Error(MISSING);
    options.onMissing(`${MISSING} Counts are estimates now.`);
    return { ...estimator, free: () => {} };
  }
  const { get_encoding } = tiktoken;
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

/** Null: it is not installed. What else keeps it from loading is told as it is. */
async function importTokeniser(): Promise<typeof import("tiktoken") | null> {
  try {
    return await import("tiktoken");
  } catch (error) {
    const { code, message } = error as { code?: unknown; message?: unknown };
    const isMissing = code === "ERR_MODULE_NOT_FOUND" || code === "MODULE_NOT_FOUND";
    if (isMissing && String(message).includes("tiktoken")) return null;
    throw error;
  }
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

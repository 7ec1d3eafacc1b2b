// Which part of a prompt a provider has seen already, and what it keeps of it.
import { createHash } from "node:crypto";
import type { PromptTokens } from "./bill.ts";

/** A piece of a prompt, in the order in which the provider reads it. */
export interface Segment {
  /** What it says, as the same text every time. */
  content: string;
  tokens: number;
  /** Marked by the client: keep everything up to its end for so long, ms. Absent: not marked. */
  keepMs?: number;
}

export interface CacheRules {
  /**
   * "marked": only what clients mark is written, and found again up to `lookback` pieces before a
   * mark. "automatic": every piece is written, for `keepMs`.
   */
  writes: "marked" | "automatic";
  /** How long something is kept after its last use unless the mark says so, ms. */
  keepMs: number;
  /** Prompts that are shorter are neither read nor written, tokens. */
  minimumTokens: number;
  /** Pieces before a mark that are looked up. Default: 20. */
  lookback?: number;
}

export interface PromptCache {
  /** Of models that differ in nothing. Tokens. */
  readonly minimumTokens: number;
  /**
   * What of the prompt was there, and what is to be kept. `scope`: account and model.
   * `change`: where models differ. Default: as the wire has it.
   */
  settle(scope: string, segments: readonly Segment[], change?: Partial<CacheRules>): PromptTokens;
  /** Keeps what was settled last: its prompt was read. */
  keep(): void;
}

interface Kept {
  /** ms since the epoch. */
  until: number;
  keepMs: number;
}

/** Longer than this is the longer of the two times that providers sell. */
const LONG_MS = 30 * 60_000;

export function createPromptCache(rules: CacheRules, now: () => number): PromptCache {
  const kept = new Map<string, Kept>();
  let pending: [hash: string, Kept][] = [];
  return {
    minimumTokens: rules.minimumTokens,
    keep() {
      for (const [hash, entry] of pending.splice(0)) kept.set(hash, entry);
    },
    settle(scope, segments, change) {
      const { writes, keepMs, minimumTokens, lookback = 20 } = { ...rules, ...change };
      const ends = endsOf(scope, segments);
      const marks = ends.flatMap((end, index) =>
        end.tokens >= minimumTokens && (writes === "automatic" || end.keepMs !== undefined)
          ? [index]
          : [],
      );
      const time = now();
      const isKept = (index: number) => (kept.get(ends[index]!.hash)?.until ?? 0) > time;
      const hit = marks.reduce((best, mark) => {
        const least = writes === "automatic" ? mark : Math.max(0, mark - lookback);
        for (let index = mark; index >= least && index > best; index--)
          if (isKept(index)) return index;
        return best;
      }, -1);
      pending = [];
      const use = (index: number, forMs: number) =>
        pending.push([ends[index]!.hash, { until: time + forMs, keepMs: forMs }]);
      for (const index of marks)
        if (index <= hit && isKept(index)) use(index, kept.get(ends[index]!.hash)!.keepMs);
      // Also where nobody marked it this time.
      if (hit >= 0) use(hit, kept.get(ends[hit]!.hash)!.keepMs);
      const read = ends[hit]?.tokens ?? 0;
      const result = { fresh: 0, read, written: 0, writtenLong: 0 };
      let settled = read;
      for (const index of marks.filter((mark) => mark > hit)) {
        const end = ends[index]!;
        const forMs = end.keepMs ?? keepMs;
        use(index, forMs);
        result[forMs > LONG_MS ? "writtenLong" : "written"] += end.tokens - settled;
        settled = end.tokens;
      }
      result.fresh = (ends.at(-1)?.tokens ?? 0) - settled;
      return result;
    },
  };
}

interface End {
  /** Stands for the prompt up to here. */
  hash: string;
  /** Of the prompt up to here. */
  tokens: number;
  keepMs?: number;
}

function endsOf(scope: string, segments: readonly Segment[]): End[] {
  let hash = scope;
  let tokens = 0;
  return segments.map((segment) => {
    hash = digest(`${hash}\n${segment.content}`);
    tokens += segment.tokens;
    return { hash, tokens, ...(segment.keepMs !== undefined && { keepMs: segment.keepMs }) };
  });
}

/** Short, and different for different texts. */
export const digest = (content: string): string =>
  createHash("sha256").update(content).digest("base64url").slice(0, 22);

// The signs of what happened at a call.
import { MARK_WORDS } from "../../src/inspect/mark-words.ts";
import type { CallMark } from "../../src/inspect/shapes/calls.ts";

export interface Sign {
  glyph: string;
  label: string;
  isBad: boolean;
}

export const MARKS: Readonly<Record<CallMark, Sign>> = {
  compaction: { glyph: "▼", label: MARK_WORDS.compaction, isBad: false },
  prune: { glyph: "✂", label: MARK_WORDS.prune, isBad: false },
  overflow: { glyph: "⚠", label: MARK_WORDS.overflow, isBad: true },
  "cache-broken": { glyph: "✕", label: MARK_WORDS["cache-broken"], isBad: true },
  degraded: { glyph: "◆", label: MARK_WORDS.degraded, isBad: true },
  failed: { glyph: "!", label: MARK_WORDS.failed, isBad: true },
  stopped: { glyph: "■", label: MARK_WORDS.stopped, isBad: false },
  lost: { glyph: "?", label: MARK_WORDS.lost, isBad: true },
  fallback: { glyph: "↷", label: MARK_WORDS.fallback, isBad: true },
};

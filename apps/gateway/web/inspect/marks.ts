// The signs of what happened at a call, and their words.
import type { CallMark } from "../../src/inspect/shapes.ts";

export interface Sign {
  glyph: string;
  label: string;
  isBad: boolean;
}

export const MARKS: Readonly<Record<CallMark, Sign>> = {
  compaction: { glyph: "▼", label: "compaction", isBad: false },
  prune: { glyph: "✂", label: "tool output cleared", isBad: false },
  overflow: { glyph: "⚠", label: "too large for the model", isBad: true },
  "cache-broken": { glyph: "✕", label: "cache broken", isBad: true },
  degraded: { glyph: "◆", label: "another engine answered", isBad: true },
  failed: { glyph: "!", label: "failed", isBad: true },
  stopped: { glyph: "■", label: "stopped", isBad: false },
  lost: { glyph: "?", label: "a missing or damaged report hides calls", isBad: true },
  fallback: { glyph: "↷", label: "another model answered", isBad: true },
};

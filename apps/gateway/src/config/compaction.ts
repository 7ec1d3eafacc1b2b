// Settings of compaction: `agents.defaults.compaction` and their defaults (spec "compaction" §4).
import { z } from "zod";

const tokens = z.number().int().nonnegative();

/** Loose: retired keys of older OpenClaw versions are tolerated. */
export const CompactionConfigSchema = z.looseObject({
  enabled: z.boolean().default(true).describe("False: no threshold compaction; overflow recovery and manual compaction remain."),
  mode: z.enum(["default", "safeguard"]).default("default").describe("Safeguard also limits the share old history may take."),
  timeoutSeconds: z.number().int().positive().default(180).describe("Wall clock of one compaction."),
  model: z.string().optional().describe('Summarising model as "provider/model"; unset = the session\'s model.'),
  keepRecentTokens: z.number().int().positive().default(20_000).describe("Newest tokens that are never summarised."),
  recentTurnsPreserve: z.number().int().min(0).max(12).default(3).describe("Newest turns that are never summarised."),
  reserveTokensFloor: tokens.default(20_000).describe("Tokens held back for the reply and for what the host adds; 0 = none."),
  maxHistoryShare: z.number().min(0.1).max(0.9).default(0.5).describe("Safeguard: largest share of the window for old history."),
  identifierPolicy: z.enum(["strict", "off"]).default("strict").describe("Strict: ids, paths and names must survive a summary."),
  prune: z.boolean().default(true).describe("Replace old tool output by placeholders before summarising."),
  pruneProtectTokens: tokens.default(40_000).describe("Newest tool output that no prune clears."),
  pruneMinimumTokens: tokens.default(20_000).describe("A prune must free at least this much."),
  pruneProtectedTools: z.array(z.string()).default([]).describe("Tools whose output no prune clears, besides the built-in ones."),
  midTurnPrecheck: z.looseObject({ enabled: z.boolean().default(false) }).prefault({}),
});
export type CompactionConfig = z.infer<typeof CompactionConfigSchema>;

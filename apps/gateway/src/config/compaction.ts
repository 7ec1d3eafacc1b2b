// The settings of compaction, `agents.defaults.compaction`.
export {
  type CompactionOptions as CompactionConfig,
  CompactionOptionsSchema as CompactionConfigSchema,
  keysWithoutEffect,
  waterOf,
} from "@clew/legacy-engine";

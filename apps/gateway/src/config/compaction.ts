// Settings of compaction, `agents.defaults.compaction`: the schema of the built-in compaction, so that one list of keys and defaults exists.
export {
  type CompactionOptions as CompactionConfig,
  CompactionOptionsSchema as CompactionConfigSchema,
  keysWithoutEffect,
} from "@clew/legacy-engine";

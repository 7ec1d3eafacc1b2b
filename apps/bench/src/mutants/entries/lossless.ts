// The lossless engine, as `plugin-sdk check` finds it.
export { createLosslessEngine as createEngine } from "@clew/lossless-engine";

// The memory engine, as `plugin-sdk check` finds it.
export { createMemoryEngine as createEngine } from "@clew/plugin-sdk/testing";

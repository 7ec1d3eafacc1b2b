// The memory engine, as the command that checks engines finds it.
export { createMemoryEngine as createEngine } from "@clew/plugin-sdk/testing";

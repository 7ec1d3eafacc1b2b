// The legacy engine, as `plugin-sdk check` finds it.
export { createLegacyEngine as createEngine } from "@clew/legacy-engine";

// The built-in engine, as the conformance kit finds it.
export { createLegacyEngine as createEngine } from "@clew/legacy-engine";

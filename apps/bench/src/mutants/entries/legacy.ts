// The legacy engine, as the command that checks engines finds it.
export { createLegacyEngine as createEngine } from "@clew/legacy-engine";

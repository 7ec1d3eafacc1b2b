// The lossless engine, as the command that checks engines finds it.
export { createLosslessEngine as createEngine } from "@clew/lossless-engine";

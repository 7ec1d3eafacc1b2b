// The built-in engine as plugins bring theirs, for the conformance kit.
import { createLegacyEngine } from "@clew/legacy-engine";
import type { ContextEngineFactory } from "@clew/plugin-sdk/core";

export default {
  id: "legacy",
  register: (api: { registerContextEngine(id: string, factory: ContextEngineFactory): void }) =>
    api.registerContextEngine("legacy", () => createLegacyEngine()),
};

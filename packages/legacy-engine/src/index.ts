// The built-in context engine: the one that answers when no other is configured or the configured one fails.
export { createLegacyEngine } from "./engine.ts";

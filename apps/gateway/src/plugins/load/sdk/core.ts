// What plugins get as `openclaw/plugin-sdk` and `openclaw/plugin-sdk/core`.
export * from "@clew/plugin-sdk/core";
export {
  buildJsonPluginConfigSchema,
  buildPluginConfigSchema,
  emptyPluginConfigSchema,
} from "./plugin-entry.ts";

// The plugin that offers the engine to its host, configured by the operator.
import { definePluginEntry, type PluginEntry } from "@clew/plugin-sdk/core";
import { createLosslessEngine } from "./engine.ts";
import { LOSSLESS_ENGINE_ID } from "./id.ts";
import type { StoreSettings } from "./stores.ts";

/** What hosts load: the engine under its id, with the plugin's configuration. */
const plugin: PluginEntry = definePluginEntry({
  id: LOSSLESS_ENGINE_ID,
  name: "Lossless",
  kind: "context-engine",
  register(api) {
    // Hosts check it against the manifest's schema.
    const settings = (api.pluginConfig ?? {}) as StoreSettings;
    const databasePath = settings.databasePath && api.resolvePath(settings.databasePath);
    api.registerContextEngine(LOSSLESS_ENGINE_ID, (context) =>
      createLosslessEngine(context, { ...settings, databasePath }),
    );
  },
});

export default plugin;

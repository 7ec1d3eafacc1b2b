// Exports the lossless engine, and the plugin that offers it to a host.
export type { Why } from "./assemble/show.ts";
export {
  createLosslessEngine,
  type Explanation,
  type LosslessEngine,
} from "./engine.ts";
export type { Retention } from "./forget/retain.ts";
export { LOSSLESS_ENGINE_ID } from "./id.ts";
export { default } from "./plugin.ts";
export type { EngineSettings } from "./settings.ts";
export type { StoreSettings } from "./stores.ts";

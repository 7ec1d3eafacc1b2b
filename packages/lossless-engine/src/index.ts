// The name of the lossless engine: all there is of it in this version.

/** The id under which the engine registers, the plugin's id, and the value of `plugins.slots.contextEngine` that selects it. */
export const LOSSLESS_ENGINE_ID = "lossless";

// The id of the lossless engine, which is all there is of it so far.

/**
 * The id under which the engine registers, the plugin's id, and the value of
 * `plugins.slots.contextEngine` that selects it.
 */
export const LOSSLESS_ENGINE_ID = "lossless";

// The name by which hosts know the engine.

/**
 * The id under which the engine registers, the plugin's id, and the value of
 * `plugins.slots.contextEngine` that selects it.
 * @example
 * ```ts
 * import { LOSSLESS_ENGINE_ID } from "@clew/lossless-engine";
 *
 * const config = { plugins: { slots: { contextEngine: LOSSLESS_ENGINE_ID } } };
 * console.log(config.plugins.slots.contextEngine);
 * ```
 *
 * ```text
 * lossless
 * ```
 */
export const LOSSLESS_ENGINE_ID = "lossless";

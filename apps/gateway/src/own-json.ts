// Writes and reads JSON as it was before any plugin could put another function there.

/**
 * What is stored goes through these and not through the global `JSON`, which every plugin of the
 * process shares. Loaded with the gateway's own code, so before the first plugin.
 */
export const { stringify: toJson, parse: fromJson } = JSON;

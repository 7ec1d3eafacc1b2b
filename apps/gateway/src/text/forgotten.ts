// What stands where something was that was forgotten.

/** In place of its words. */
export const FORGOTTEN = "(This was forgotten, as somebody asked.)";

/** Begins the hash of what was forgotten, by which nobody can try what it may have been. */
export const FORGOTTEN_HASH = "forgotten-";

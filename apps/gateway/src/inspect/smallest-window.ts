// How small a context window may be in which a session is played again.

/** Tokens; what is smaller holds no request. */
export const SMALLEST_WINDOW = 1000;

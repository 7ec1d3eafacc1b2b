// Ids for calls to which the model gave none.

const MARK = "noid";

/**
 * An id of letters and digits, the same for the same reply, and of its own in a session. `reply`:
 * the provider's id of the reply, or what else tells it from others.
 */
export const makeUpId = (reply: string, index: number): string =>
  `${MARK}${reply.replace(/[^A-Za-z0-9]/g, "").slice(0, 28)}n${index}`;

/** True for one that no provider knows. */
export const isMadeUpId = (id: string): boolean => id.startsWith(MARK);

// How much of a window is kept for what a model looks up while it replies.

/**
 * Of what is left beside the fixed part: for what is looked up, and the replies that ask for it.
 */
const ROOM_SHARE = 1 / 8;
const MOST_ROOM = 8_000;

export const roomForRecall = (free: number): number =>
  Math.max(0, Math.min(MOST_ROOM, Math.floor(free * ROOM_SHARE)));

/** Of it: what a view is cut for; the rest is only taken where it is free. */
export const leastRoomOf = (room: number): number => Math.floor(room * (3 / 4));

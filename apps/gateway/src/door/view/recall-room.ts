// How much of a window is kept for what a model looks up while it replies.

/** Of a window: for what is looked up, and the replies that ask for it. */
const ROOM_SHARE = 1 / 8;
const MOST_ROOM = 8_000;

export const roomForRecall = (window: number): number =>
  Math.min(MOST_ROOM, Math.floor(window * ROOM_SHARE));

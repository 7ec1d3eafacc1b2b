// What may become of a message that comes while a reply is being written.

export const WHEN_BUSY = ["follow", "steer", "refuse"] as const;
/** As a sentence names them. */
export const WHEN_BUSY_NAMES = '"follow", "steer" or "refuse"';
export type WhenBusy = (typeof WHEN_BUSY)[number];

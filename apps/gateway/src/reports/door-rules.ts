// The names under which reports tell of what the door, and its client, did to a message.

/** Part of it was set aside to make room. */
export const SET_ASIDE = "door: set aside";
/** The client sent it otherwise than before. */
export const SENT_OTHERWISE = "the client";

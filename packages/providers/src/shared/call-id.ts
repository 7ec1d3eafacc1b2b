// Tells whether what a provider calls a call's id names one.

/** False for blanks alone: results could not be told from those that lost their id. */
export const isCallId = (id: unknown): id is string => typeof id === "string" && id.trim() !== "";

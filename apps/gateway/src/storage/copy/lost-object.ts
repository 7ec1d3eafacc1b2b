// Tells a large body that is gone from a place that cannot be asked now.

/** True: what else is kept there can be had. */
export const isLostObject = (error: unknown): error is Error =>
  error instanceof Error && error.cause instanceof Error && error.cause.name === "LostBody";

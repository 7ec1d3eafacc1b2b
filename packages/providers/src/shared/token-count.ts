// Reads a count of tokens, of which a server may tell anything.

/** Zero for anything that is no count. */
export const tokenCount = (value: unknown): number =>
  typeof value === "number" && Number.isFinite(value) && value > 0 ? Math.floor(value) : 0;

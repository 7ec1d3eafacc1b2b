// Reads a count of tokens, of which a server may tell anything.

/** Each is a count or nothing, and one is a count: else nobody told what to believe. */
export const tellsCounts = (...values: readonly unknown[]): boolean => {
  const told = values.filter((value) => value !== undefined && value !== null);
  return told.length > 0 && told.every(isCount);
};

const isCount = (value: unknown): boolean =>
  typeof value === "number" && Number.isFinite(value) && value >= 0;

/** Zero for anything that is no count. */
export const tokenCount = (value: unknown): number =>
  typeof value === "number" && Number.isFinite(value) && value > 0 ? Math.floor(value) : 0;

// Reads a count of tokens, of which a server may tell anything.

/**
 * Each is a count or nothing, and those of the prompt are some: a prompt of no tokens was not
 * counted, and what else is told is half of a bill.
 */
export const tellsCounts = (prompt: readonly unknown[], rest: readonly unknown[]): boolean => {
  const told = [...prompt, ...rest].filter((value) => value !== undefined && value !== null);
  return told.every(isCount) && prompt.some((value) => tokenCount(value) > 0);
};

const isCount = (value: unknown): boolean =>
  typeof value === "number" && Number.isFinite(value) && value >= 0;

/** Zero for anything that is no count. */
export const tokenCount = (value: unknown): number =>
  typeof value === "number" && Number.isFinite(value) && value > 0 ? Math.floor(value) : 0;

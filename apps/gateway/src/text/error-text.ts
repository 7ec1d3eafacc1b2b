// Gives what an error tells people, without the name of its class.

/** On one line; whatever else was thrown as text. */
export const errorText = (error: unknown): string => {
  const text = error instanceof Error ? error.message : String(error);
  return text.replace(/\s+/g, " ").trim() || "no reason given";
};

// Marks what is said with a name of its own, and finds the names again.

export const named = (name: string): string => `«${name}»`;

/** In their order, whatever they stand in. */
export const namesIn = (value: unknown): string[] =>
  Array.from(
    (typeof value === "string" ? value : (JSON.stringify(value) ?? "")).matchAll(/«([^«»]+)»/g),
    ([, name = ""]) => name,
  );

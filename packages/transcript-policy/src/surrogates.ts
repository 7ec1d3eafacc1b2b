// Finds and replaces lone surrogates, with which no text is valid Unicode.

/** True when no string inside the value holds a lone surrogate. */
export function isWellFormed(value: unknown): boolean {
  if (typeof value === "string") return value.isWellFormed();
  if (typeof value !== "object" || value === null) return true;
  return Object.entries(value).every(([key, inner]) => key.isWellFormed() && isWellFormed(inner));
}

/** The value with every lone surrogate replaced by U+FFFD; the same value when there is none. */
export function toWellFormed<T>(value: T): T {
  return isWellFormed(value) ? value : (mend(value) as T);
}

function mend(value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (Array.isArray(value)) return value.map(mend);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key.toWellFormed(), mend(inner)]),
  );
}

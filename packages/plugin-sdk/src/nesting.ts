// Replaces what is nested so deep in a value that no scan of it can be relied on.

/** Objects and lists inside one another, at most, in what a host keeps and sends. */
export const MAX_LEVELS = 200;

/** The value with a text for whatever lies deeper; the very value when nothing does. */
export function withoutDeepParts<Value>(value: Value, levels = MAX_LEVELS): Value {
  const leftOut = `[left out: nested deeper than ${levels} levels]`;
  return isDeeper(value, levels) ? (cut(value, levels, leftOut) as Value) : value;
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1));
}

function cut(value: unknown, levels: number, leftOut: string): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (levels === 0) return leftOut;
  if (Array.isArray(value)) return value.map((inner) => cut(inner, levels - 1, leftOut));
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, cut(inner, levels - 1, leftOut)]),
  );
}

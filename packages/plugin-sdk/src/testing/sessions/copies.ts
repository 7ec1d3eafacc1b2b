// Copies plain data faster than `structuredClone`, and keeps texts as they are.

/** What JSON can say, `undefined` and sets; anything else is copied by `structuredClone`. */
export function copyOf<Value>(value: Value): Value {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(copyOf) as Value;
  if (Object.getPrototypeOf(value) !== Object.prototype) return structuredClone(value);
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const part = copyOf((value as Record<string, unknown>)[key]);
    if (key === "__proto__")
      Object.defineProperty(copy, key, {
        ...{ value: part, enumerable: true, writable: true, configurable: true },
      });
    else copy[key] = part;
  }
  return copy as Value;
}

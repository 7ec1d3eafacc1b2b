// Makes a copy of the configuration that no plugin can change.

/** Deeply frozen. `value` is plain data. */
export function frozenCopy(raw: unknown): unknown {
  const copy: unknown = structuredClone(raw);
  const visit = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    for (const child of Object.values(value)) visit(child);
    Object.freeze(value);
  };
  visit(copy);
  return copy;
}

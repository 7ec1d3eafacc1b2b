// Writes JSON in which no lone surrogate is left, because servers refuse one.

/**
 * `value` as JSON in which every string and name is well-formed; as fast as `JSON.stringify` when
 * all of them are.
 */
export function wellFormedJson(value: unknown): string {
  const json = JSON.stringify(value);
  // JSON.stringify escapes lone surrogates and only those.
  return /\\ud[89a-f]/.test(json)
    ? JSON.stringify(value, (_key, item: unknown) => mended(item))
    : json;
}

function mended(item: unknown): unknown {
  if (typeof item === "string") return mend(item);
  if (typeof item !== "object" || item === null || Array.isArray(item)) return item;
  const names = Object.keys(item);
  return names.every((name) => name.isWellFormed())
    ? item
    : Object.fromEntries(Object.entries(item).map(([name, value]) => [mend(name), value]));
}

const mend = (text: string) => text.replace(/\p{Surrogate}/gu, "\ufffd");

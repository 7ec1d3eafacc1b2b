// Reads what a plugin answered once, so that nothing of it runs or changes later.
import { types } from "node:util";

/**
 * Lists and objects are copied, with what their getters give; everything else is as it was given.
 * Throws what reading it throws.
 */
export function readAnswer(given: unknown, seen = new Map<object, unknown>()): unknown {
  if (typeof given !== "object" || given === null) return given;
  const known = seen.get(given);
  if (known !== undefined) return known;
  if (Array.isArray(given)) {
    const list: unknown[] = [];
    seen.set(given, list);
    for (const each of given as unknown[]) list.push(readAnswer(each, seen));
    return list;
  }
  if (isOfNode(given)) return given;
  const copy: Record<string, unknown> = {};
  seen.set(given, copy);
  for (const key of keysOf(given)) {
    const value = readAnswer((given as Record<string, unknown>)[key], seen);
    Object.defineProperty(copy, key, {
      ...{ value, enumerable: true, configurable: true, writable: true },
    });
  }
  return copy;
}

/** What is no collection of fields: it has them elsewhere. */
const isOfNode = (given: object): boolean =>
  ArrayBuffer.isView(given) ||
  types.isAnyArrayBuffer(given) ||
  types.isDate(given) ||
  types.isMap(given) ||
  types.isSet(given) ||
  types.isRegExp(given) ||
  types.isPromise(given);

/** Its own, and those for which its class has a getter. */
function keysOf(given: object): Set<string> {
  const keys = new Set(Object.keys(given));
  let holder = Object.getPrototypeOf(given) as object | null;
  while (holder !== null && holder !== Object.prototype) {
    for (const [key, { get }] of Object.entries(Object.getOwnPropertyDescriptors(holder)))
      if (get !== undefined) keys.add(key);
    holder = Object.getPrototypeOf(holder) as object | null;
  }
  return keys;
}

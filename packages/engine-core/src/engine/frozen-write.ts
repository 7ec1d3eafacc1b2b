// Recognises an engine that changes what it is given, and makes copies it may change.
import { readQuietly } from "./describe-error.ts";

/** V8's sentences for a write to, an addition to and a deletion from frozen data. */
const WRITES =
  /^(Cannot assign to read only property|Cannot add property|Cannot delete property|Cannot define property|Cannot redefine property|Attempted to assign to readonly property)|object is not extensible/;
const MAX_CAUSES = 8;
/** What the host goes on using of what it hands out. */
const SHARED = ["messages", "message", "runtimeSettings", "admission", "terminal", "sessionTarget"];

/** True for the TypeError of strict code that writes to frozen data, at any depth of causes. */
export function isFrozenWrite(error: unknown): boolean {
  let current = error;
  for (let depth = 0; depth < MAX_CAUSES; depth++) {
    if (typeof current !== "object" || current === null) return false;
    const seen = current as { name?: unknown; message?: unknown; cause?: unknown };
    const message = readQuietly(() => (seen.name === "TypeError" ? seen.message : undefined));
    if (typeof message === "string" && WRITES.test(message)) return true;
    current = readQuietly(() => seen.cause);
  }
  return false;
}

/** The same parameters, with copies of what the host shares that may be changed at any depth. */
export function withOwnCopies(params: object): object {
  return Object.fromEntries(
    Object.entries(params).map(([key, value]) => [
      key,
      SHARED.includes(key) ? copyOf(value) : (value as unknown),
    ]),
  );
}

/** For plain data only. */
function copyOf(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(copyOf);
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, copyOf(field)]));
}

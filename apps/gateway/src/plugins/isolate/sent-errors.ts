// Carries what was thrown from one process to another, as far as anybody reads it.
import { serialize } from "node:v8";

export type SentError =
  /** The reason of a signal that the other side knows by this number. */
  | { kind: "reason"; signal: number }
  | { kind: "value"; value: unknown }
  | {
      kind: "error";
      name: string;
      message: string;
      stack: string | undefined;
      cause: SentError | undefined;
      /** Whatever else stands on it and can be sent: codes, lists of issues. */
      fields: Record<string, unknown>;
    };

const MAX_CAUSES = 8;
const OWN = ["name", "message", "stack", "cause"];

/** Never throws. */
export function sendableError(
  error: unknown,
  signalOf: (error: unknown) => number | undefined,
  depth = 0,
): SentError {
  try {
    const signal = signalOf(error);
    if (signal !== undefined) return { kind: "reason", signal };
    if (!(error instanceof Error)) return { kind: "value", value: sendable(error) };
    const { name, message, stack, cause } = error;
    const fields = Object.entries(error).filter(([key]) => !OWN.includes(key));
    return {
      ...{ kind: "error", name: String(name), message: String(message) },
      stack: typeof stack === "string" ? stack : undefined,
      cause:
        cause === undefined || depth >= MAX_CAUSES
          ? undefined
          : sendableError(cause, signalOf, depth + 1),
      fields: Object.fromEntries(fields.map(([key, value]) => [key, sendable(value)])),
    };
  } catch {
    return { kind: "value", value: "an error that cannot be described" };
  }
}

const sendable = (value: unknown): unknown => (canBeSent(value) ? value : String(value));

export function canBeSent(value: unknown): boolean {
  try {
    serialize(value);
    return true;
  } catch {
    return false;
  }
}

const TYPES: Record<string, ErrorConstructor> = { TypeError, RangeError, SyntaxError };

export function errorFrom(sent: SentError, reasonOf: (signal: number) => unknown): unknown {
  if (sent.kind === "reason") return reasonOf(sent.signal);
  if (sent.kind === "value") return sent.value;
  const { name, message, stack, cause, fields } = sent;
  const options = cause === undefined ? {} : { cause: errorFrom(cause, reasonOf) };
  const error = new (TYPES[name] ?? Error)(message, options);
  for (const [key, value] of Object.entries({ name, stack, ...fields }))
    Object.defineProperty(error, key, {
      ...{ value, configurable: true, writable: true },
      enumerable: key in fields,
    });
  return error;
}

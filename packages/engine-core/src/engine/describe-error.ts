// Describes whatever was thrown, on one printable line, and never throws itself.

/** Longer messages are cut: plugins put whole documents into them. */
const MAX_CHARACTERS = 1_000;
/** Read of a message at most, so that cleaning it costs nothing noticeable. */
const MAX_READ = 4 * MAX_CHARACTERS;
const MAX_KEYS = 6;

/** Under this a host may note on an error where in an engine's code it came up: "engine.js:12". */
const PLACE = Symbol.for("clew.error-place");

/**
 * The message of an error, or what else was thrown, in words for people, and where it came up, if a
 * host noted that; never blank.
 */
export function describeError(error: unknown): string {
  const message = printable(readQuietly(() => messageOf(error)) ?? "");
  const place = readQuietly(() => (error as { [PLACE]?: unknown })[PLACE]);
  const text = message === "" ? "no reason given" : message;
  if (typeof place !== "string") return text;
  return `${text.replace(/\.$/, "")}, at ${printable(place)}`;
}

/**
 * One line without control characters or terminal escapes: messages of plugins end
 * up in logs and terminals.
 */
export function printable(text: string): string {
  const line = text
    .slice(0, MAX_READ)
    .replace(/\u001b\[[0-9;?]*[ -/]*[@-~]/g, "")
    .replace(/[\s\u0000-\u001f\u007f-\u009f]+/g, " ")
    .trim();
  return line.length <= MAX_CHARACTERS ? line : `${line.slice(0, MAX_CHARACTERS - 1)}…`;
}

/** The result of `read`, or undefined when it throws: for what belongs to a plugin. */
export function readQuietly<Result>(read: () => Result): Result | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

function messageOf(error: unknown): string {
  if (typeof error === "function") return "a function";
  if (typeof error !== "object" || error === null) return String(error);
  const message = readQuietly(() => (error as { message?: unknown }).message);
  if (typeof message === "string" && message.trim() !== "") return message;
  return (
    readQuietly(() => inWords(message)) ??
    readQuietly(() => inWords(error)) ??
    readQuietly(() => keysOf(error)) ??
    "something that cannot be read"
  );
}

/** As JSON, unless that says nothing. */
function inWords(value: unknown): string | undefined {
  if (typeof value === "bigint" || typeof value === "symbol") return String(value);
  const json = JSON.stringify(value);
  if (json !== undefined && json !== "{}" && json !== '""') return json;
  const name = value instanceof Error ? value.name : undefined;
  return typeof name === "string" && name !== "" ? name : undefined;
}

function keysOf(value: object): string {
  const keys = Object.keys(value).slice(0, MAX_KEYS).join(", ");
  return `an object with ${keys || "no keys"}`;
}

// How a message is stored so that it comes back exactly, long texts apart from the rest.
import type { AgentMessage } from "@clew/plugin-sdk/core";

/** A text of a message that is stored once for all messages that hold it. */
export interface Payload {
  /** The keys that lead to it in its message. */
  readonly place: readonly (string | number)[];
  readonly text: string;
}

/** A message taken apart. */
export interface PackedMessage {
  /** Its JSON; where a payload stood stands an empty text. */
  readonly body: string;
  readonly payloads: readonly Payload[];
}

/** Texts of this many characters or more are payloads. */
export const PAYLOAD_CHARS = 4_096;

/** The message is not changed. */
export function packMessage(message: AgentMessage): PackedMessage {
  const whole = JSON.stringify(message);
  if (whole.length < PAYLOAD_CHARS) return { body: whole, payloads: [] };
  const payloads: Payload[] = [];
  const rest = takeOut(message, [], payloads, MOST_LEVELS);
  return { body: payloads.length === 0 ? whole : JSON.stringify(rest), payloads };
}

/** What `packMessage` was given, as its JSON would give it back. */
export function unpackMessage({ body, payloads }: PackedMessage): AgentMessage {
  const message: unknown = JSON.parse(body);
  for (const { place, text } of payloads) putBack(message, place, text);
  return message as AgentMessage;
}

/** What lies deeper stays where it is: JSON goes deeper than calls can. */
const MOST_LEVELS = 100;

/** `value` without its long texts; the same value when it holds none. */
function takeOut(
  value: unknown,
  place: Payload["place"],
  found: Payload[],
  levels: number,
): unknown {
  if (typeof value === "string") {
    // Half of a surrogate pair is no text that a database keeps as it is; JSON escapes it.
    if (value.length < PAYLOAD_CHARS || !value.isWellFormed()) return value;
    found.push({ place, text: value });
    return "";
  }
  if (levels === 0) return value;
  if (Array.isArray(value)) {
    const items = value.map((item, index) => takeOut(item, [...place, index], found, levels - 1));
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  if (!isPlain(value)) return value;
  const changed = Object.entries(value).flatMap(([key, item]) => {
    const left = takeOut(item, [...place, key], found, levels - 1);
    return left === item ? [] : [[key, left] as const];
  });
  return changed.length === 0 ? value : { ...value, ...Object.fromEntries(changed) };
}

/** What writes itself (`toJSON`) is no plain object, and stays whole. */
function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null || "toJSON" in value) return false;
  return [Object.prototype, null].includes(Object.getPrototypeOf(value));
}

function putBack(message: unknown, place: Payload["place"], text: string): void {
  let at = message as Record<string | number, unknown>;
  for (const key of place.slice(0, -1)) at = at[key] as Record<string | number, unknown>;
  at[place.at(-1)!] = text;
}

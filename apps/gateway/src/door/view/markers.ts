// Puts a cache marker where a view was cut, if the client left one to spare.
import { isRecord } from "@clew/plugin-sdk/host";
import type { JsonObject } from "../wires/door-wire.ts";

/** Every marker in a part of a body, at any depth. */
export function markersIn(value: unknown): JsonObject[] {
  if (Array.isArray(value)) return value.flatMap(markersIn);
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    name === "cache_control" && isRecord(member) ? [member] : markersIn(member),
  );
}

/**
 * What may be added; undefined: nothing. A client that marks nothing wants nothing kept, and a
 * marker that lives long may not stand behind one that lives shortly.
 */
export function spareMarker(input: {
  most: number;
  before: readonly JsonObject[];
  behind: readonly JsonObject[];
}): JsonObject | undefined {
  const { most, before, behind } = input;
  const count = before.length + behind.length;
  if (count === 0 || count >= most) return undefined;
  return behind[0] ?? before.at(-1);
}

// How the wires read a body that may hold anything.
import { isRecord } from "@clew/plugin-sdk/host";
import { fromJson, toJson } from "../../own-json.ts";
import type { JsonObject } from "./door-wire.ts";

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

export const objectsOf = (value: unknown): readonly JsonObject[] => listOf(value).filter(isRecord);

/** Undefined unless it is a list of objects and of nothing else. */
export const messagesOf = (value: unknown): readonly JsonObject[] | undefined =>
  Array.isArray(value) && value.every(isRecord) ? value : undefined;

export const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

export const recordOf = (value: unknown): JsonObject => (isRecord(value) ? value : {});

/** Absent unless it is a whole number above zero. */
export const countOf = (value: unknown): { maxTokens?: number } =>
  typeof value === "number" && Number.isInteger(value) && value > 0 ? { maxTokens: value } : {};

/** The same value as the same text, whatever the order of its members. */
export function canonical(value: unknown): string {
  return toJson(value, (_name, item: unknown) =>
    isRecord(item)
      ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
      : item,
  );
}

/** A call by its name and arguments, which may come as JSON. */
export function formOf(name: unknown, given: unknown): string {
  const value = typeof given === "string" ? parsed(given) : given;
  return `${textOf(name)} ${canonical(value ?? {})}`;
}

function parsed(json: string): unknown {
  try {
    return fromJson(json);
  } catch {
    return json;
  }
}

/** The content with every block changed by `change`; the same list when none was. */
export function changeEach(
  value: unknown,
  change: (block: JsonObject) => JsonObject,
): readonly unknown[] {
  const blocks = listOf(value);
  const changed = blocks.map((block) => (isRecord(block) ? change(block) : block));
  return changed.some((block, index) => block !== blocks[index]) ? changed : blocks;
}

/** Characters of a result of a tool; what is not text counts as the JSON it is sent as. */
export const lengthOf = (value: unknown): number =>
  typeof value === "string" ? value.length : (toJson(value)?.length ?? 0);

/** What a result says: its texts, or those of its members, and the JSON of what is neither. */
export function wordsOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value))
    return objectsOf(value)
      .map(({ text }) => textOf(text))
      .join("\n");
  const members = Object.values(recordOf(value));
  return members.length > 0 && members.every((member) => typeof member === "string")
    ? members.join("\n")
    : (toJson(value) ?? "");
}

/** How many stand at the front of which this is true. */
export function leadingCount<T>(items: readonly T[], isLeading: (item: T) => boolean): number {
  const end = items.findIndex((item) => !isLeading(item));
  return end < 0 ? items.length : end;
}

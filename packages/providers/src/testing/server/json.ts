// How rules read a body that may hold anything.
import { isRecord } from "@clew/plugin-sdk/host";

/** An object as JSON has it, of which nothing is known yet. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** An object of a body, with where it stands. */
export interface At {
  value: JsonObject;
  /** In the provider's own notation, e.g. "messages[2].content[0]". */
  path: string;
}

export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
export const text = (value: unknown): string => (typeof value === "string" ? value : "");
export const record = (value: unknown): JsonObject => (isRecord(value) ? value : {});

/** The objects of an array, each with its path. */
export const objects = (value: unknown, path: string): At[] =>
  placed(value, (index) => `${path}[${index}]`);

/** As `objects`, in the notation "messages.2.content.0". */
export const dotted = (value: unknown, path: string): At[] =>
  placed(value, (index) => `${path}.${index}`);

function placed(value: unknown, pathOf: (index: number) => string): At[] {
  return list(value).flatMap((item, index) =>
    isRecord(item) ? [{ value: item, path: pathOf(index) }] : [],
  );
}

/** The first item that breaks a rule, told by `tell`. */
export function first<T>(
  items: readonly T[],
  breaks: (item: T) => boolean,
  tell: (item: T) => string,
): string | undefined {
  const found = items.find(breaks);
  return found === undefined ? undefined : tell(found);
}

/** The first text that occurs a second time. */
export function repeated(texts: readonly string[]): string | undefined {
  const seen = new Set<string>();
  return texts.find((item) => seen.size === seen.add(item).size);
}

export const words = (names: string): ReadonlySet<string> => new Set(names.split(/\s+/));

const ESCAPED = /\\ud[89a-f]/;

/**
 * JSON.stringify writes a lone surrogate as an escape of its own; a backslash of the text itself is
 * written twice.
 */
export function hasLoneSurrogate(value: unknown): boolean {
  const json = JSON.stringify(value);
  return ESCAPED.test(json) && ESCAPED.test(json.replaceAll("\\\\", ""));
}

/** Undefined: no JSON, or no object. */
export function parseObject(json: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Standard alphabet, padded. Looks for what does not belong: a repetition that has to match images
 * of megabytes overflows the stack.
 */
export const isBase64 = (data: string): boolean =>
  data !== "" && data.length % 4 === 0 && !/[^A-Za-z0-9+/]/.test(data.replace(/={1,2}$/, ""));

/** The same value as the same text, whatever the order of its members. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) =>
    isRecord(item)
      ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
      : item,
  );
}

// Takes what a plugin returned as plain data of the host's own, read once and frozen.
import { describeError, readQuietly } from "./describe-error.ts";

/** Levels of objects and lists within each other. */
export const MAX_DEPTH = 64;
/** Values in one result that the host does not know yet, fields and list items counted alike. */
export const MAX_VALUES = 1_000_000;
/** UTF-16 units of text in one result that the host does not know yet; images are text as well. */
export const MAX_CHARACTERS = 32 * 1024 * 1024;

/** One result while it is read: where in it, inside of what, and how much of it so far. */
export interface Reading {
  readonly path: (string | number)[];
  readonly inside: object[];
  values: number;
  characters: number;
}

/** What was taken, or the field that is wrong and how. */
export type Taken<Result> = { ok: true; value: Result } | { ok: false; problem: string };

/** Thrown by `refuse`, caught by `takeFrom`. */
class Refusal extends Error {}

/** Says what is wrong with the value that is being read: "is null; expected a string". */
export function refuse(what: string): never {
  throw new Refusal(what);
}

/** The same of the value at `key` of what is being read. */
export function refuseAt(reading: Reading, key: string, what: string): never {
  reading.path.push(key);
  return refuse(what);
}

/**
 * Runs `read` over something a plugin made. Whatever that does, a getter or proxy that throws
 * included, the answer is a result.
 */
export function takeFrom<Result>(read: (reading: Reading) => Result): Taken<Result> {
  const reading: Reading = { path: [], inside: [], values: 0, characters: 0 };
  try {
    return { ok: true, value: read(reading) };
  } catch (error) {
    const field = inWords(reading.path);
    // What a plugin throws may not even say what it is.
    const isOurs = readQuietly(() => error instanceof Refusal) === true;
    const what = isOurs ? (error as Refusal).message : `could not be read: ${describeError(error)}`;
    return { ok: false, problem: field === "" ? what : `${field} ${what}` };
  }
}

/** Reads `read` at `key` of what is being read. */
export function readAt<Result>(reading: Reading, key: string | number, read: () => Result): Result {
  reading.path.push(key);
  const result = read();
  reading.path.pop();
  return result;
}

/**
 * `value` as a frozen copy: own enumerable fields, each read once, undefined ones left out, what
 * has a `toJSON` as that says. Gives `known` instead when the two say the same; `known` must be
 * plain data. Refuses functions, symbols, bigints, holes, circles, bytes, and what is too large.
 */
export function takePlain(reading: Reading, value: unknown, known?: unknown): unknown {
  if (value === known) return value;
  if (++reading.values > MAX_VALUES) refuse(`makes more than ${MAX_VALUES} values`);
  switch (typeof value) {
    case "string":
      reading.characters += value.length;
      if (reading.characters > MAX_CHARACTERS)
        refuse(`makes more than ${MAX_CHARACTERS} characters`);
      return value;
    case "number":
    case "boolean":
    case "undefined":
      return value;
    case "object":
      return value === null ? null : takeObject(reading, value, known);
    default:
      return refuse(`is a ${typeof value}; expected plain data`);
  }
}

function takeObject(reading: Reading, value: object, known: unknown): unknown {
  const { inside } = reading;
  if (inside.includes(value)) refuse("contains itself");
  if (inside.length >= MAX_DEPTH) refuse(`is nested deeper than ${MAX_DEPTH} levels`);
  inside.push(value);
  const taken = Array.isArray(value)
    ? takeList(reading, value, Array.isArray(known) ? known : undefined)
    : takeFields(reading, value, known);
  inside.pop();
  return taken;
}

function takeList(
  reading: Reading,
  list: readonly unknown[],
  known: readonly unknown[] | undefined,
): readonly unknown[] {
  const { path } = reading;
  const { length } = list;
  const copy: unknown[] = [];
  let same = known?.length === length;
  for (let index = 0; index < length; index++) {
    path.push(index);
    const item = list[index];
    if (item === undefined) refuse(index in list ? "is undefined" : "is a hole in the list");
    const taken = takePlain(reading, item, known?.[index]);
    copy.push(taken);
    same &&= taken === known?.[index];
    path.pop();
  }
  return same ? known! : Object.freeze(copy);
}

function takeFields(reading: Reading, value: object, known: unknown): unknown {
  const plain = plainForm(value);
  if (plain !== value) return takePlain(reading, plain, known);
  const fields = value as Record<string, unknown>;
  const before = isFields(known) ? known : undefined;
  if (before !== undefined && saysTheSame(fields, before, MAX_DEPTH)) return before;
  const keys = Object.keys(fields);
  const { path } = reading;
  // Made at the first difference: most messages that come back are the ones that were given.
  let copy: Record<string, unknown> | undefined = before === undefined ? {} : undefined;
  let kept = 0;
  for (let position = 0; position < keys.length; position++) {
    const key = keys[position]!;
    // As a key of a copy it would be a prototype.
    if (key === "__proto__") continue;
    path.push(key);
    const taken = takePlain(reading, fields[key], before?.[key]);
    path.pop();
    if (copy === undefined && taken !== before![key]) copy = copyOf(before!, keys, position);
    if (taken === undefined) continue;
    kept++;
    if (copy !== undefined) copy[key] = taken;
  }
  if (copy === undefined && countFields(before!) === kept) return before;
  return Object.freeze(copy ?? copyOf(before!, keys, keys.length));
}

/**
 * True only for what says the same as `known`; false may be wrong, as for objects of a class. Makes
 * nothing, since most of what comes back is what was given.
 */
function saysTheSame(value: unknown, known: unknown, depth: number): boolean {
  if (value === known) return true;
  if (depth === 0 || !isObject(value) || !isObject(known)) return false;
  if (Array.isArray(value)) {
    if (!Array.isArray(known) || value.length !== known.length) return false;
    for (let index = 0; index < value.length; index++)
      if (!saysTheSame(value[index], known[index], depth - 1)) return false;
    return true;
  }
  if (Object.getPrototypeOf(value) !== Object.prototype || Array.isArray(known)) return false;
  const before = known as Record<string, unknown>;
  const fields = value as Record<string, unknown>;
  let count = 0;
  for (const key in before) if (before[key] !== undefined) count++;
  for (const key in fields) if (fields[key] !== undefined) count--;
  if (count !== 0) return false;
  for (const key in fields) if (!saysTheSame(fields[key], before[key], depth - 1)) return false;
  return true;
}

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

function copyOf(known: Record<string, unknown>, keys: readonly string[], end: number) {
  const copy: Record<string, unknown> = {};
  for (const key of keys.slice(0, end))
    if (key !== "__proto__" && known[key] !== undefined) copy[key] = known[key];
  return copy;
}

function countFields(known: Record<string, unknown>): number {
  let count = 0;
  for (const key of Object.keys(known)) if (known[key] !== undefined) count++;
  return count;
}

const isFields = (known: unknown): known is Record<string, unknown> =>
  typeof known === "object" && known !== null && !Array.isArray(known);

/** The object itself when its own fields say all, else what its `toJSON` makes of it. */
function plainForm(value: object): unknown {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return value;
  const kind = Object.prototype.toString.call(value).slice("[object ".length, -1);
  if (ArrayBuffer.isView(value) || kind.endsWith("ArrayBuffer"))
    refuse("holds bytes; expected plain data");
  const { toJSON } = value as { toJSON?: unknown };
  if (typeof toJSON === "function") return toJSON.call(value) as unknown;
  if (kind !== "Object") refuse(`is a ${kind}; expected plain data`);
  return value;
}

/** messages, 3, content, 0 → "messages[3].content[0]". */
function inWords(path: readonly (string | number)[]): string {
  return path
    .map((key, index) =>
      typeof key === "number" ? `[${key}]` : index === 0 ? key : `.${key.slice(0, 100)}`,
    )
    .join("");
}

/** Refuses the whole of what is being read, at its root. */
export const refuseWhole = (value: unknown, expected: string): never =>
  refuse(`expected ${expected} (got ${shapeOf(value)})`);

function shapeOf(value: unknown): string {
  if (!isFields(value)) return value === undefined ? "nothing" : kindOf(value);
  return `an object with ${Object.keys(value).slice(0, 6).join(", ") || "no keys"}`;
}

/** What a value is, in two or three words. */
export function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (value === undefined) return "missing";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "string") return value.trim() === "" ? "blank" : "a string";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

// Finds keys that mean nothing to Clew, with the nearest key that does.
import { isRecord } from "@clew/plugin-sdk/host";
import { z } from "zod";
import { nearestOf } from "../text/nearest.ts";
import { isIdleKey } from "./compaction.ts";

type Schema = z.core.JSONSchema.JSONSchema | boolean;

export interface UnknownKey {
  /** e.g. "agents.defaults.worksapce". */
  path: string;
  /** The same path, key by key: a key may have dots of its own. */
  keys: string[];
  /** Full path of the known key it may stand for. */
  nearest: string | null;
}

/** What others define: only near misses of our own keys count there. */
const OPEN_SECTIONS: ReadonlySet<string> = new Set(["plugins"]);

/** Pure. Keys that are known to change nothing are not among them. */
export function findUnknownKeys(schema: z.ZodObject, value: unknown): UnknownKey[] {
  if (hasOnlyKnown(schema, value)) return [];
  const root = z.toJSONSchema(schema, { io: "input" });
  const all = knownPaths(root, []);
  return visit(root, value, [], all);
}

/**
 * Of the schema only the sections that are there are looked at, which spares a start most of it:
 * the others are needed only to say what was meant.
 */
function hasOnlyKnown(schema: z.ZodObject, value: unknown): boolean {
  const sections = Object.keys(isRecord(value) ? value : {});
  if (!sections.every((name) => Object.hasOwn(schema.shape, name))) return false;
  const here = z.object(Object.fromEntries(sections.map((name) => [name, schema.shape[name]!])));
  return visit(z.toJSONSchema(here, { io: "input" }), value, [], []).length === 0;
}

/** One warning sentence. */
export function describeUnknownKey({ path, nearest }: UnknownKey): string {
  return nearest === null
    ? `${path}: Clew has no such setting; it is ignored.`
    : `${path}: Clew has no such setting; did you mean ${nearest}?`;
}

function visit(
  schema: Schema | undefined,
  value: unknown,
  path: string[],
  all: readonly string[],
): UnknownKey[] {
  if (typeof schema !== "object") return [];
  if (Array.isArray(value)) {
    return value.flatMap((item, index) =>
      visit(schema.items as Schema | undefined, item, [...path, String(index)], all),
    );
  }
  if (typeof value !== "object" || value === null) return [];
  const shape = objectShape(schema);
  if (shape === undefined) return [];
  const { properties, rest } = shape;
  return Object.entries(value).flatMap(([key, child]) => {
    const here = [...path, key];
    const known = properties[key];
    if (known !== undefined) return visit(known, child, here, all);
    if (typeof rest === "object" && Object.keys(rest).length > 0)
      return visit(rest, child, here, all);
    const siblings = Object.keys(properties).map((name) => [...path, name].join("."));
    const isOpen = rest !== undefined && rest !== false && OPEN_SECTIONS.has(here[0]!);
    const nearest =
      nearestOf(here.join("."), siblings) ?? (isOpen ? null : sameNameElsewhere(key, all));
    const isTold = (isOpen && nearest === null) || isIdleKey(here.join("."));
    return isTold ? [] : [{ path: here.join("."), keys: here, nearest }];
  });
}

interface ObjectShape {
  properties: Record<string, Schema>;
  /** Schema of other keys; undefined or false = there are none. */
  rest: Schema | undefined;
}

function objectShape(schema: Exclude<Schema, boolean>): ObjectShape | undefined {
  if (schema.properties === undefined && schema.additionalProperties === undefined) {
    const variants = (schema.anyOf ?? schema.allOf ?? []) as Schema[];
    return variants
      .map((each) => (typeof each === "object" ? objectShape(each) : undefined))
      .find((shape) => shape !== undefined);
  }
  return {
    properties: (schema.properties ?? {}) as Record<string, Schema>,
    rest: schema.additionalProperties as Schema | undefined,
  };
}

function knownPaths(schema: Schema | undefined, path: string[]): string[] {
  const shape = typeof schema === "object" ? objectShape(schema) : undefined;
  if (shape === undefined) return [];
  return Object.entries(shape.properties).flatMap(([key, child]) => [
    [...path, key].join("."),
    ...knownPaths(child, [...path, key]),
  ]);
}

function sameNameElsewhere(key: string, all: readonly string[]): string | null {
  return all.find((path) => path.endsWith(`.${key}`)) ?? null;
}

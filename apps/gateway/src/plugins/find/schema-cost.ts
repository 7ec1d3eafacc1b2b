// Counts how much work a plugin's schema asks for.
import { isRecord } from "@clew/plugin-sdk/host";

/** Of one schema, with what it refers to as often as it does; a large one has some thousand. */
const MOST_PARTS = 100_000;
/** A longer way through references ends in Node's own limit of calls. */
const MOST_DEPTH = 500;

/** Pure. Why a schema is not to be used, to stand after "it"; null: nothing is wrong with it. */
export function schemaFault(schema: unknown): string | null {
  const counted = new Map<object, number>();
  const parts = (value: unknown, depth: number): number => {
    if (typeof value !== "object" || value === null) return 1;
    const known = counted.get(value);
    if (known !== undefined) return known;
    if (depth > MOST_DEPTH) return Number.POSITIVE_INFINITY;
    // What refers to itself costs as much as the value is deep, which is bounded by time.
    counted.set(value, 1);
    let sum = 1;
    for (const each of Object.values(value)) sum += parts(each, depth + 1);
    if (isRecord(value) && typeof value.$ref === "string")
      sum += parts(referred(schema, value.$ref), depth + 1);
    counted.set(value, sum);
    return sum;
  };
  const cost = parts(schema, 0);
  if (cost <= MOST_PARTS && comesBack(schema, [...counted.keys()]))
    return 'leads back to itself by "$ref" without going deeper into the value, so nothing could ever be checked by it';
  return cost <= MOST_PARTS
    ? null
    : `needs more than ${MOST_PARTS} checks of one value, with each "$ref" followed, so everybody would wait for it; make it smaller`;
}

/** Keywords whose schemas are about the same value. */
const SAME_VALUE = ["allOf", "anyOf", "oneOf", "not", "if", "then", "else"];

/** Whether one of these is, for the same value, to be checked again within itself. */
function comesBack(schema: unknown, parts: readonly object[]): boolean {
  const done = new Set<object>();
  const under = new Set<object>();
  const visit = (part: unknown): boolean => {
    if (!isRecord(part) || done.has(part)) return false;
    if (under.has(part)) return true;
    under.add(part);
    const next = SAME_VALUE.flatMap((key) => (Object.hasOwn(part, key) ? [part[key]].flat() : []));
    if (typeof part.$ref === "string") next.push(referred(schema, part.$ref));
    const found = next.some(visit);
    under.delete(part);
    done.add(part);
    return found;
  };
  return parts.some(visit);
}

function referred(schema: unknown, ref: string): unknown {
  if (!ref.startsWith("#")) return undefined;
  let found: unknown = schema;
  for (const part of ref.slice(1).split("/").slice(1)) {
    if (typeof found !== "object" || found === null) return undefined;
    const name = decoded(part).replaceAll("~1", "/").replaceAll("~0", "~");
    found = Object.hasOwn(found, name) ? Reflect.get(found, name) : undefined;
  }
  return found;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

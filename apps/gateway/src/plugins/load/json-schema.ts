// Checks values against the JSON Schemas that plugins bring.
import { createRequire } from "node:module";
import { isRecord } from "@clew/plugin-sdk/host";
import type * as AjvModule from "ajv";
import type { ErrorObject } from "ajv";
import { schemaFault } from "../find/schema-cost.ts";
import { boundedPatterns, SlowPatternError } from "./bounded-patterns.ts";
import { inTime } from "./bounded-time.ts";

/** Loaded at the first schema: most starts have no plugin, and should not wait for it. */
let loaded: typeof AjvModule | undefined;
function ajvModule(): typeof AjvModule {
  loaded ??= createRequire(import.meta.url)("ajv") as typeof AjvModule;
  return loaded;
}

/** For one schema to be read, or one value to be checked, ms: a usual one takes a few. */
const BOUND_MS = 2000;

/** Thrown where it takes longer. */
class SlowSchemaError extends Error {}
const slow = () =>
  new SlowSchemaError(`its schema takes longer than ${BOUND_MS / 1000} s to check one value`);

/** `paths`: of each problem, the dotted path of the value that it is about; "" is the whole. */
export type SchemaCheck =
  | { ok: true; value: unknown }
  | { ok: false; problems: string[]; paths: string[] };

/** Checks a value; with `defaults` or `coerces` the result is a copy that is changed so. */
export interface SchemaChecker {
  check(value: unknown): SchemaCheck;
}

export interface SchemaOptions {
  /** What is missing is taken from the schema. Default: false. */
  defaults?: boolean;
  /**
   * "2" is taken for 2 where a number is wanted, and the like, as models write it; null for
   * what is not given. Default: false.
   */
  coerces?: boolean;
}

/** Throws when `schema` is not usable, or costs too much. Draft 7; formats are not checked. */
export function compileSchema(
  schema: Record<string, unknown>,
  { defaults = false, coerces = false }: SchemaOptions = {},
): SchemaChecker {
  // A "$schema" of another draft would be refused for its name alone; "$id" must
  // not collide with anything.
  const { $schema: _draft, $id: _id, ...rules } = schema;
  const fault = schemaFault(rules);
  if (fault !== null) throw new Error(`it ${fault}`);
  const patterns = boundedPatterns();
  const { Ajv } = ajvModule();
  const compile = (coerceTypes: boolean) =>
    inTime(BOUND_MS, slow, () =>
      new Ajv({
        ...{ allErrors: true, strict: false, validateFormats: false, logger: false },
        ...{ useDefaults: defaults, coerceTypes, code: { regExp: patterns.make } },
      }).compile(rules),
    );
  const asItIs = compile(false);
  let coercing: ReturnType<typeof compile> | undefined;
  const run = (validate: typeof asItIs, given: unknown): SchemaCheck => {
    const copy: unknown = defaults || coerces ? structuredClone(given) : given;
    const value = coerces ? withoutNulls(copy, rules) : copy;
    patterns.begin();
    try {
      if (inTime(BOUND_MS, slow, () => validate(value))) {
        const endless = coerces ? endlessIn(value) : undefined;
        if (endless === undefined) return { ok: true, value };
        return { ok: false, problems: [`${endless} must be a finite number`], paths: [endless] };
      }
    } catch (error) {
      if (!(error instanceof SlowPatternError || error instanceof SlowSchemaError)) throw error;
      return { ok: false, problems: [error.message], paths: [""] };
    }
    const told = new Map((validate.errors ?? []).map((each) => [describe(each), pathOf(each)]));
    return { ok: false, problems: [...told.keys()], paths: [...told.values()] };
  };
  return {
    check(given) {
      const checked = run(asItIs, given);
      // What fits as it is, is meant as it is.
      if (checked.ok || !coerces) return checked;
      coercing ??= compile(true);
      return run(coercing, given);
    },
  };
}

/** The path of a number that JSON has no word for, as texts like "Infinity" and "1e999" become. */
function endlessIn(value: unknown, path = ""): string | undefined {
  if (typeof value === "number") return Number.isFinite(value) ? undefined : path;
  if (typeof value !== "object" || value === null) return undefined;
  for (const [key, each] of Object.entries(value)) {
    const found = endlessIn(each, path === "" ? key : `${path}.${key}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Without those that stand for "not given": they would else be taken for 0 or "". */
function withoutNulls(value: unknown, { properties }: Record<string, unknown>): unknown {
  if (!isRecord(value) || !isRecord(properties)) return value;
  const isMeant = (name: string) => !Object.hasOwn(properties, name) || takesNull(properties[name]);
  return Object.fromEntries(
    Object.entries(value).filter(([name, given]) => given !== null || isMeant(name)),
  );
}

function takesNull(schema: unknown): boolean {
  if (!isRecord(schema)) return true;
  const { type, anyOf, oneOf, enum: values } = schema;
  if (type !== undefined) return [type].flat().includes("null");
  const others = [anyOf, oneOf].filter(Array.isArray).flat();
  if (others.length > 0) return others.some(takesNull);
  return Array.isArray(values) ? values.includes(null) : schema.nullable === true;
}

const dotted = ({ instancePath }: ErrorObject): string =>
  instancePath.slice(1).replaceAll("/", ".").replaceAll("~1", "/").replaceAll("~0", "~");

/** Of one too many, the path is its own. */
function pathOf(error: ErrorObject): string {
  const { keyword, params } = error;
  if (keyword !== "additionalProperties") return dotted(error);
  return [dotted(error), params.additionalProperty].filter((part) => part !== "").join(".");
}

function describe(error: ErrorObject): string {
  const { message, keyword, params } = error;
  const path = dotted(error);
  const detail =
    keyword === "additionalProperties"
      ? `: "${params.additionalProperty}"`
      : keyword === "enum"
        ? `: ${params.allowedValues.join(", ")}`
        : "";
  return `${path === "" ? "" : `${path} `}${message ?? keyword}${detail}`;
}

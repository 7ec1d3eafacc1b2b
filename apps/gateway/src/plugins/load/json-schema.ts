// Checks values against the JSON Schemas that plugins bring.
import { createRequire } from "node:module";
import type * as AjvModule from "ajv";
import type { ErrorObject } from "ajv";

/** Loaded at the first schema: most starts have no plugin, and should not wait for it. */
let loaded: typeof AjvModule | undefined;
function ajvModule(): typeof AjvModule {
  loaded ??= createRequire(import.meta.url)("ajv") as typeof AjvModule;
  return loaded;
}

export type SchemaCheck = { ok: true; value: unknown } | { ok: false; problems: string[] };

/** Checks a value; with `defaults` the result is a copy that has them. */
export interface SchemaChecker {
  check(value: unknown): SchemaCheck;
}

/** Throws when `schema` itself is not usable. Draft 7; formats are not checked. */
export function compileSchema(
  schema: Record<string, unknown>,
  { defaults = false } = {},
): SchemaChecker {
  const ajv = new (ajvModule().Ajv)({
    allErrors: true,
    strict: false,
    validateFormats: false,
    useDefaults: defaults,
    logger: false,
  });
  // A "$schema" of another draft would be refused for its name alone; "$id" must
  // not collide with anything.
  const { $schema: _draft, $id: _id, ...rules } = schema;
  const validate = ajv.compile(rules);
  return {
    check(given) {
      const value: unknown = defaults ? structuredClone(given) : given;
      return validate(value)
        ? { ok: true, value }
        : { ok: false, problems: [...new Set((validate.errors ?? []).map(describe))] };
    },
  };
}

function describe({ instancePath, message, keyword, params }: ErrorObject): string {
  const path = instancePath
    .slice(1)
    .replaceAll("/", ".")
    .replaceAll("~1", "/")
    .replaceAll("~0", "~");
  const detail =
    keyword === "additionalProperties"
      ? `: "${params.additionalProperty}"`
      : keyword === "enum"
        ? `: ${params.allowedValues.join(", ")}`
        : "";
  return `${path === "" ? "" : `${path} `}${message ?? keyword}${detail}`;
}

// Says a JSON Schema in the part of OpenAPI's schema that Gemini's older field knows.
import { isRecord } from "@clew/plugin-sdk/host";

/** As JSON: keywords that the wire refuses are not there. */
export interface Schema {
  type?: SchemaType;
  format?: string;
  title?: string;
  description?: string;
  nullable?: boolean;
  enum?: string[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  anyOf?: Schema[];
  minimum?: number;
  maximum?: number;
  /** Counts are 64-bit integers, which are strings in Google's JSON; so for all that follow. */
  minItems?: string;
  maxItems?: string;
  minLength?: string;
  maxLength?: string;
  pattern?: string;
}

export type SchemaType = "STRING" | "NUMBER" | "INTEGER" | "BOOLEAN" | "ARRAY" | "OBJECT" | "NULL";

const TYPES = ["string", "number", "integer", "boolean", "array", "object", "null"];
/** A schema that holds itself ends here. */
const DEEPEST = 24;

/**
 * What a schema says in other words, or less: "$ref" is put in its place, "const" is the only one
 * of its "enum", several types are choices. What cannot be said is left out; the tool checks its
 * arguments anyway.
 */
export const openApiSchema = (schema: Readonly<Record<string, unknown>>): Schema =>
  convert(schema, schema, 0);

type Json = Readonly<Record<string, unknown>>;

function convert(given: unknown, root: Json, depth: number): Schema {
  if (!isRecord(given) || depth > DEEPEST) return {};
  const schema = resolved(given, root);
  const inner = (value: unknown) => convert(value, root, depth + 1);
  const { types, nullable } = typesOf(schema);
  const choices = [schema.anyOf, schema.oneOf, schema.allOf].flat().filter(isRecord);
  const values = Array.isArray(schema.enum) ? schema.enum : "const" in schema ? [schema.const] : [];
  const [type] = types;
  const isNullChoice = ({ type: kind }: Json) => kind === "null";
  return {
    ...(types.length === 1 && type !== undefined && { type }),
    ...(types.length > 1 && choices.length === 0 && { anyOf: types.map((one) => ({ type: one })) }),
    ...((nullable || choices.some(isNullChoice)) && { nullable: true }),
    ...texts(schema),
    // Of anything but texts the field takes none.
    ...(values.length > 0 &&
      values.every((value) => typeof value === "string") && { type: "STRING", enum: values }),
    ...(isRecord(schema.properties) && {
      type: "OBJECT",
      properties: Object.fromEntries(
        Object.entries(schema.properties).map(([name, value]) => [name, inner(value)]),
      ),
      ...requiredOf(schema),
    }),
    ...(isRecord(schema.items) && { items: inner(schema.items) }),
    ...(choices.length > 0 && {
      anyOf: choices.filter((choice) => !isNullChoice(choice)).map(inner),
    }),
    ...numbers(schema),
  };
}

/** With what a "$ref" into the same schema leads to. */
function resolved(schema: Json, root: Json): Json {
  const { $ref: reference, ...rest } = schema;
  if (typeof reference !== "string" || !reference.startsWith("#/")) return schema;
  const target = reference
    .slice(2)
    .split("/")
    .reduce<unknown>((at, step) => (isRecord(at) ? at[unescaped(step)] : undefined), root);
  return isRecord(target) ? { ...target, ...rest } : rest;
}

const unescaped = (step: string) => step.replaceAll("~1", "/").replaceAll("~0", "~");

function typesOf({ type }: Json): { types: SchemaType[]; nullable: boolean } {
  const told = [type].flat().filter((name) => typeof name === "string" && TYPES.includes(name));
  const types = told.filter((name) => name !== "null" || told.length === 1);
  return {
    types: types.map((name) => String(name).toUpperCase() as SchemaType),
    nullable: told.length > types.length,
  };
}

const texts = ({ title, description, format, pattern }: Json) => ({
  ...(typeof title === "string" && { title }),
  ...(typeof description === "string" && { description }),
  ...(typeof format === "string" && { format }),
  ...(typeof pattern === "string" && { pattern }),
});

const requiredOf = ({ required, properties }: Json): { required?: string[] } => {
  const names = Array.isArray(required)
    ? required.filter(
        (name): name is string =>
          typeof name === "string" && isRecord(properties) && Object.hasOwn(properties, name),
      )
    : [];
  return names.length === 0 ? {} : { required: names };
};

const numbers = ({ minimum, maximum, minItems, maxItems, minLength, maxLength }: Json) => ({
  ...(typeof minimum === "number" && { minimum }),
  ...(typeof maximum === "number" && { maximum }),
  ...(typeof minItems === "number" && { minItems: String(minItems) }),
  ...(typeof maxItems === "number" && { maxItems: String(maxItems) }),
  ...(typeof minLength === "number" && { minLength: String(minLength) }),
  ...(typeof maxLength === "number" && { maxLength: String(maxLength) }),
});

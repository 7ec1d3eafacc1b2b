// What plugins get as `openclaw/plugin-sdk/plugin-entry`.
import { isRecord } from "@clew/plugin-sdk/host";
import { compileSchema } from "../json-schema.ts";

export { definePluginEntry } from "@clew/plugin-sdk/core";

/** The outcome of a check, as zod and its kind put it. */
export type SafeParsed =
  | { success: true; data: unknown }
  | { success: false; error: { issues: { path: (string | number)[]; message: string }[] } };

/** What a plugin says of its configuration; the host checks it by the manifest's schema. */
export interface PluginConfigSchema {
  safeParse(value: unknown): SafeParsed;
  /** Throws what does not fit. */
  parse(value: unknown): unknown;
  /** Names and hints for a form. Absent: the schema's own. */
  uiHints?: unknown;
  jsonSchema: Record<string, unknown>;
}

const NOTHING = { type: "object", additionalProperties: false, properties: {} };

/** Of a plugin without configuration: undefined and {} fit. */
export const emptyPluginConfigSchema = (): PluginConfigSchema =>
  buildJsonPluginConfigSchema(NOTHING);

/** By a JSON Schema; defaults are applied. */
export function buildJsonPluginConfigSchema(
  jsonSchema: Record<string, unknown>,
  options: { uiHints?: unknown } = {},
): PluginConfigSchema {
  let compiled: ReturnType<typeof compileSchema> | undefined;
  return schemaOf({
    ...{ jsonSchema, uiHints: options.uiHints },
    safeParse(value) {
      compiled ??= compileSchema(jsonSchema, { defaults: true });
      const checked = compiled.check(value ?? {});
      return checked.ok ? { success: true, data: checked.value } : failed(checked.problems);
    },
  });
}

/** By a zod schema, of whichever version the plugin brings. */
export function buildPluginConfigSchema(
  schema: unknown,
  options: { uiHints?: unknown; safeParse?: (value: unknown) => SafeParsed } = {},
): PluginConfigSchema {
  const own = schema as {
    safeParse?: (value: unknown) => SafeParsed;
    toJSONSchema?: () => unknown;
  };
  const jsonSchema = own.toJSONSchema?.();
  return schemaOf({
    jsonSchema: isRecord(jsonSchema) ? jsonSchema : { type: "object", additionalProperties: true },
    uiHints: options.uiHints,
    safeParse: (value) =>
      options.safeParse?.(value) ??
      own.safeParse?.(value) ??
      failed(["the schema cannot check anything"]),
  });
}

function schemaOf({
  safeParse,
  jsonSchema,
  uiHints,
}: Omit<PluginConfigSchema, "parse">): PluginConfigSchema {
  return {
    ...{ safeParse, jsonSchema },
    ...(uiHints !== undefined && { uiHints }),
    parse(value) {
      const parsed = safeParse(value);
      if (parsed.success) return parsed.data;
      throw new Error(parsed.error.issues.map(({ message }) => message).join("; "));
    },
  };
}

const failed = (problems: readonly string[]): SafeParsed => ({
  success: false,
  error: { issues: problems.map((message) => ({ path: [], message })) },
});

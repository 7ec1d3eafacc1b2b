// Makes the table of settings for the documentation from the schema.
import { configJsonSchema } from "./schema.ts";

type Schema = ReturnType<typeof configJsonSchema>;

export interface SettingRow {
  /** e.g. "models.providers.<id>.baseUrl". */
  name: string;
  /** In words, with code in backticks. */
  type: string;
  /** Undefined: there is none. */
  default: unknown;
  meaning: string;
}

/** One for each setting, in the order of the file. */
export const settingRows = (): SettingRow[] => rowsOf(configJsonSchema(), []);

/** Markdown: one row per setting. */
export function configTable(): string {
  const rows = settingRows().map(
    (row) =>
      `| \`${row.name}\` | ${row.type} | ${defaultText(row.default)} | ${cell(row.meaning)} |`,
  );
  return ["| setting | type | default | meaning |", "|---|---|---|---|", ...rows].join("\n");
}

function rowsOf(schema: Schema, path: string[]): SettingRow[] {
  return Object.entries(schema.properties ?? {}).flatMap(([key, child]) => {
    if (typeof child !== "object" || key === "$schema") return [];
    const here = [...path, key];
    const nested = nestedSchema(child);
    if (nested !== undefined) return rowsOf(nested.schema, [...path, `${key}${nested.suffix}`]);
    return [
      {
        name: here.join("."),
        type: typeText(child),
        default: child.default,
        meaning: child.description ?? "",
      },
    ];
  });
}

/**
 * What is inside a section: its keys, those of each named member (`<id>`), or those
 * of each list item (`[]`).
 */
function nestedSchema(schema: Schema): { schema: Schema; suffix: string } | undefined {
  if (schema.properties !== undefined) return { schema, suffix: "" };
  const member = schema.additionalProperties;
  if (typeof member === "object" && member.properties !== undefined)
    return { schema: member, suffix: ".<id>" };
  const item = schema.items;
  if (typeof item === "object" && !Array.isArray(item) && (item as Schema).properties !== undefined)
    return { schema: item as Schema, suffix: "[]" };
  return undefined;
}

function typeText(schema: Schema): string {
  if (schema.enum !== undefined)
    return schema.enum.map((value) => `\`${JSON.stringify(value)}\``).join(" or ");
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
  if (schema.anyOf !== undefined)
    return [
      ...new Set(
        schema.anyOf.map((each) => (typeof each === "object" ? typeText(each as Schema) : "any")),
      ),
    ].join(" or ");
  if (schema.type === "array")
    return `list of ${typeof schema.items === "object" ? typeText(schema.items as Schema) : "any"}`;
  return typeof schema.type === "string" ? schema.type : "any";
}

function defaultText(value: unknown): string {
  return value === undefined ? "" : `\`${cell(JSON.stringify(value))}\``;
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}

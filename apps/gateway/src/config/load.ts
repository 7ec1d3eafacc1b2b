// Loads one plugin and returns what it registered, or why none of it is used.

import { readFile } from "node:fs/promises";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { isRecord, secretsInAddress } from "@clew/plugin-sdk/host";
import { storageFailed } from "../storage-error.ts";
import { counted } from "../text/number.ts";
import { fromJson5 } from "./from-json5.ts";
import { type ConfigProblem, parseConfig } from "./parse.ts";
import { type Config, ConfigSchema } from "./schema.ts";
import { describeUnknownKey, findUnknownKeys } from "./unknown-keys.ts";

export interface LoadedConfig {
  config: Config;
  /** What the file says, unchecked keys included; for plugins and for `config get`. */
  raw: Record<string, unknown>;
  file: string;
  /** False: there is no file, everything is default. */
  exists: boolean;
  /** One sentence each. */
  warnings: string[];
}

/** Throws CONFIG_INVALID, STORAGE_FAILED. A missing file is an empty one. */
export async function loadConfig(file: string): Promise<LoadedConfig> {
  const text = await readConfigText(file);
  return { ...checkConfigText(text ?? "{}", file), file, exists: text !== null };
}

/** The file's text; null when there is none. Throws STORAGE_FAILED. */
export async function readConfigText(file: string): Promise<string | null> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    // ENOTDIR: the folder it would be in is a file, which others complain about.
    if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return null;
    throw storageFailed(`The configuration ${file} cannot be read`, error);
  }
}

/**
 * Pure. Throws CONFIG_INVALID with every problem and its path. `refused` begins the message of a
 * change that was not made; absent: the file itself is wrong.
 */
export function checkConfigText(
  text: string,
  file: string,
  refused?: string,
): Pick<LoadedConfig, "config" | "raw" | "warnings"> {
  const raw = parseText(text, file);
  const parsed = parseConfig(raw);
  if (!parsed.ok)
    throw new ContextEngineError(
      "CONFIG_INVALID",
      problemsMessage(file, parsed.problems, raw, refused),
    );
  return {
    config: parsed.config,
    raw,
    warnings: findUnknownKeys(ConfigSchema, raw).map(describeUnknownKey),
  };
}

function parseText(text: string, file: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = text.trim() === "" ? {} : fromJson5(text);
  } catch (error) {
    const { lineNumber, columnNumber, message } = error as {
      lineNumber?: number;
      columnNumber?: number;
      message: string;
    };
    // The line feed that a text must not hold counts as the beginning of the next line.
    if (lineNumber !== undefined && columnNumber === 0 && message.includes("'\\n'"))
      throw new ContextEngineError(
        "CONFIG_INVALID",
        `The configuration ${file} is not JSON5: a text that begins at line ${lineNumber - 1} does not end there; a quote is missing in that line.`,
        { cause: error },
      );
    const place = lineNumber === undefined ? "" : ` at line ${lineNumber}, column ${columnNumber}`;
    const why = message.replace(/^JSON5: /, "").replace(/ at \d+:\d+$/, "");
    throw new ContextEngineError(
      "CONFIG_INVALID",
      `The configuration ${file} is not JSON5: ${why}${place}; correct that line.`,
      {
        cause: error,
      },
    );
  }
  if (isRecord(value)) return value;
  throw new ContextEngineError(
    "CONFIG_INVALID",
    `The configuration ${file} must be one object in braces; start with {}.`,
  );
}

function problemsMessage(
  file: string,
  problems: readonly ConfigProblem[],
  raw: unknown,
  refused: string | undefined,
): string {
  const lines = problems.map(
    ({ path, message }) => `  ${formatPath(path)}: ${message}${given(raw, path)}`,
  );
  const start =
    refused ??
    `The configuration ${file} has ${counted(lines.length, "problem")}; correct it or run "clew config set":`;
  return [start, ...lines].join("\n");
}

export function formatPath(path: readonly PropertyKey[]): string {
  return path.length === 0
    ? "(the whole file)"
    : path
        .map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`))
        .join("")
        .replace(/^\./, "");
}

/** The wrong value where it is short and no secret. */
function given(raw: unknown, path: readonly PropertyKey[]): string {
  let value: unknown = raw;
  for (const part of path)
    value = (value as Record<PropertyKey, unknown> | null | undefined)?.[part];
  if (path.some((part) => /key|token(?!s)|secret|password|headers/i.test(String(part)))) return "";
  if (typeof value === "string" && secretsInAddress(value).length > 0) return "";
  return ["string", "number", "boolean"].includes(typeof value)
    ? ` (given: ${JSON.stringify(value).slice(0, 80)})`
    : "";
}

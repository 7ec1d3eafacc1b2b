// Turns an `openclaw.json` or `clawdbot.json` into a configuration of ours.
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { isRecord } from "@clew/plugin-sdk/host";
import JSON5 from "json5";
import { formatPath } from "./load.ts";
import { parseConfig } from "./parse.ts";
import { valueAt, withValueAt } from "./path.ts";
import { ConfigSchema } from "./schema.ts";
import { findUnknownKeys } from "./unknown-keys.ts";

export interface ImportPlan {
  config: Record<string, unknown>;
  ignored: { path: string; reason: string }[];
}

/** Pure. Throws CONFIG_INVALID when `text` is no JSON5 object. */
export function planImport(text: string, file: string): ImportPlan {
  const source = renameOldSections(parseObject(text, file));
  const ignored: ImportPlan["ignored"] = [];
  let config = withoutPaths(source.config, [["gateway", "port"]]);
  if (valueAt(source.config, ["gateway", "port"]) !== undefined) {
    ignored.push({ path: "gateway.port", reason: "kept apart, so that both programs can run" });
  }
  for (const { path, keys } of findUnknownKeys(ConfigSchema, config)) {
    ignored.push({ path, reason: "Clew has no such setting" });
    config = withoutPaths(config, [keys]);
  }
  for (;;) {
    const parsed = parseConfig(config);
    if (parsed.ok) break;
    const [issue] = parsed.problems;
    ignored.push({ path: formatPath(issue.path), reason: issue.message });
    const shorter = withoutPaths(config, [issue.path.map(String)]);
    // A missing required key cannot be removed; what lacks it can.
    config =
      JSON.stringify(shorter) === JSON.stringify(config)
        ? withoutPaths(config, [issue.path.slice(0, -1).map(String)])
        : shorter;
  }
  return {
    config: pruneEmpty(config) as Record<string, unknown>,
    ignored,
  };
}

function parseObject(text: string, file: string): Record<string, unknown> {
  try {
    const value: unknown = JSON5.parse(text);
    if (isRecord(value)) return value;
  } catch (error) {
    throw new ContextEngineError(
      "CONFIG_INVALID",
      `${file} is not JSON5: ${(error as Error).message}; nothing was imported.`,
      {
        cause: error,
      },
    );
  }
  throw new ContextEngineError(
    "CONFIG_INVALID",
    `${file} is not a configuration: it is not one object in braces; nothing was imported.`,
  );
}

/** `clawdbot.json` called the defaults of all agents `agent`. */
function renameOldSections(value: Record<string, unknown>): { config: Record<string, unknown> } {
  const { agent, ...rest } = value;
  if (typeof agent !== "object" || agent === null) return { config: value };
  const defaults = {
    ...(agent as object),
    ...(valueAt(rest, ["agents", "defaults"]) as object | undefined),
  };
  return { config: withValueAt(rest, ["agents", "defaults"], defaults) as Record<string, unknown> };
}

function withoutPaths(root: Record<string, unknown>, paths: string[][]): Record<string, unknown> {
  return paths.reduce((value, path) => without(value, path) as Record<string, unknown>, root);
}

function without(value: unknown, [part, ...rest]: string[]): unknown {
  if (
    part === undefined ||
    typeof value !== "object" ||
    value === null ||
    !Object.hasOwn(value, part)
  )
    return value;
  if (Array.isArray(value)) {
    return rest.length === 0
      ? value.toSpliced(Number(part), 1)
      : value.with(Number(part), without(value[Number(part)], rest));
  }
  const { [part]: child, ...others } = value as Record<string, unknown>;
  return rest.length === 0
    ? others
    : { ...(value as Record<string, unknown>), [part]: without(child, rest) };
}

function pruneEmpty(value: unknown): unknown {
  if (Array.isArray(value) || typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).map(([key, child]) => [key, pruneEmpty(child)] as const);
  return Object.fromEntries(
    kept.filter(
      ([, child]) =>
        !(typeof child === "object" && child !== null && Object.keys(child).length === 0),
    ),
  );
}

/** Pure. Paths of what is set, top two levels. */
export function sectionsOf(config: Record<string, unknown>): string[] {
  const pruned = pruneEmpty(config) as Record<string, unknown>;
  return Object.entries(pruned).flatMap(([key, child]) =>
    isRecord(child) ? Object.keys(child).map((name) => `${key}.${name}`) : [key],
  );
}

// Which newer host parameters an older engine refuses, as declared or as learned.
import type { ContextEngine } from "@clew/plugin-sdk/core";
import { declaredParams, type EngineMethod } from "@clew/plugin-sdk/host";

const FULL = ["sessionKey", "runtimeSettings", "sessionTarget", "runtimeContext"];
/** Keys an undeclared engine may be called without, per method (contract §2.4). */
const STRIPPABLE: Partial<Record<EngineMethod, readonly string[]>> = {
  bootstrap: FULL,
  maintain: FULL,
  afterTurn: FULL,
  compact: FULL,
  ingest: ["sessionKey"],
  ingestBatch: ["sessionKey"],
  assemble: ["sessionKey", "prompt", "runtimeSettings"],
};

/** What one engine instance refused so far, across all its methods. */
export type RejectedKeys = Set<string>;

/**
 * Calls `engine[method]` with the parameters it accepts. A declared allow-list is applied as it is;
 * an engine without one is called again without the keys its error rejects, until it answers or
 * rejects nothing new. What it rejected is remembered in `rejected`.
 */
export async function callCompatibly(
  engine: ContextEngine,
  method: EngineMethod,
  params: object,
  rejected: RejectedKeys,
): Promise<unknown> {
  const declared = engine.info.acceptedHostParams;
  const call = (given: object) =>
    (engine[method] as (given: object) => unknown).call(engine, given);
  if (declared !== undefined) return call(declaredParams(method, params, declared));

  const strippable = (STRIPPABLE[method] ?? []).filter((key) => key in params);
  for (;;) {
    try {
      return await call(without(params, strippable, rejected));
    } catch (error) {
      const learned = strippable.filter((key) => !rejected.has(key) && rejectsKey(error, key));
      if (learned.length === 0) throw error;
      for (const key of learned) rejected.add(key);
    }
  }
}

function without(params: object, strippable: readonly string[], rejected: RejectedKeys): object {
  if (rejected.size === 0) return params;
  return Object.fromEntries(
    Object.entries(params).filter(([key]) => !(strippable.includes(key) && rejected.has(key))),
  );
}

/**
 * Does this error say that `key` is not allowed? Structured issues decide where there are any;
 * message text does only where an engine gives nothing else. Looks at the whole cause chain.
 */
export function rejectsKey(error: unknown, key: string): boolean {
  const parts = everyPart(error);
  const issues = parts.flatMap(rejectedKeys);
  return issues.length > 0 ? issues.includes(key) : parts.some((part) => textNames(part, key));
}

/**
 * The error, its causes, and the elements of `issues`, `errors` or an array error; each
 * once, so that cycles end.
 */
function everyPart(error: unknown): unknown[] {
  const parts = new Set<unknown>([error]);
  for (const part of parts) {
    if (typeof part !== "object" || part === null) continue;
    const { cause, issues, errors } = part as {
      cause?: unknown;
      issues?: unknown;
      errors?: unknown;
    };
    for (const list of [part, issues, errors, [cause]])
      if (Array.isArray(list)) for (const inner of list as unknown[]) parts.add(inner);
  }
  return [...parts];
}

function rejectedKeys(part: unknown): unknown[] {
  if (typeof part !== "object" || part === null) return [];
  const { code, keys } = part as { code?: unknown; keys?: unknown };
  return code === "unrecognized_keys" && Array.isArray(keys) ? keys : [];
}

function textNames(part: unknown, key: string): boolean {
  const message =
    typeof part === "string"
      ? part
      : typeof part === "object" && part !== null
        ? (part as { message?: unknown }).message
        : undefined;
  if (typeof message !== "string") return false;
  const quoted = `['"\`]${key}['"\`]`;
  return [
    `unrecognized key(\\(s\\)|s)?( in object)?:?.*${quoted}`,
    `(must not have )?additional propert(y|ies).*${quoted}`,
    `(unexpected|extraneous|unknown|invalid) (property|field|key).*${quoted}`,
    `${quoted} (was|is) not allowed`,
    `"code"\\s*:\\s*"unrecognized_keys".*"${key}"`,
  ].some((pattern) => new RegExp(pattern, "is").test(message));
}

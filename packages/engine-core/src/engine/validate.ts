// Lists how a factory's product or a method's result breaks the contract.
import type { AssembleResult, CompactResult, ContextEngine } from "@clew/plugin-sdk/core";
import { isRecord } from "@clew/plugin-sdk/host";

/** The engine, or the one sentence that says all that is wrong with it. */
export type EngineValidation = { ok: true; engine: ContextEngine } | { ok: false; message: string };

/** Checks what a factory returned (contract §2.3). */
export function validateEngine(engineId: string, product: unknown): EngineValidation {
  if (typeof product !== "object" || product === null) {
    const shown = JSON.stringify(product) ?? String(product);
    return {
      ok: false,
      message: `Context engine "${engineId}" factory returned ${shown} instead of a ContextEngine object.`,
    };
  }
  const { info, ...methods } = pick(product);
  const problems = [
    ...(typeof info !== "object" || info === null
      ? ["missing info"]
      : (["id", "name"] as const).flatMap((key) =>
          isText((info as Record<string, unknown>)[key]) ? [] : [`missing info.${key}`],
        )),
    ...(["ingest", "assemble", "compact"] as const).flatMap((name) =>
      typeof methods[name] === "function" ? [] : [`missing ${name}()`],
    ),
  ];
  if (problems.length === 0) return { ok: true, engine: product as ContextEngine };
  return {
    ok: false,
    message: `Context engine "${engineId}" factory returned an invalid ContextEngine: ${problems.join(", ")}.`,
  };
}

/**
 * What is wrong with the result of a method, or undefined. Unknown fields are fine: newer engines
 * may send more. Messages that are the `given` ones in the same place need no second look.
 */
export function resultProblem(
  engineId: string,
  method: string,
  result: unknown,
  given: readonly unknown[] = [],
): string | undefined {
  if (method === "assemble" && !isAssembleResult(result, given))
    return `context engine "${engineId}" assemble() returned an invalid result: expected an object with a "messages" array (got ${shapeOf(result)})`;
  if (method === "compact" && !isCompactResult(result))
    return `context engine "${engineId}" compact() returned an invalid result: expected an object with boolean "ok" and "compacted" (got ${shapeOf(result)})`;
  if (method === "commitTurn" && !isCommitted(result))
    return `context engine "${engineId}" commitTurn() returned an invalid result: expected status "committed" or "duplicate" (got ${shapeOf(result)})`;
  return undefined;
}

const isText = (value: unknown) => typeof value === "string" && value.trim() !== "";

function isAssembleResult(value: unknown, given: readonly unknown[]): value is AssembleResult {
  if (!isRecord(value) || !Array.isArray(value.messages)) return false;
  if (value.messages === given) return true;
  return value.messages.every(
    (message: unknown, index) =>
      message === given[index] || (isRecord(message) && isText(message.role)),
  );
}

function isCompactResult(value: unknown): value is CompactResult {
  return isRecord(value) && typeof value.ok === "boolean" && typeof value.compacted === "boolean";
}

const isCommitted = (value: unknown) =>
  isRecord(value) && (value.status === "committed" || value.status === "duplicate");

function shapeOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  if (!isRecord(value)) return typeof value;
  return `an object with ${Object.keys(value).slice(0, 6).join(", ") || "no keys"}`;
}

/** A getter on `info` may throw: then it counts as missing. */
function pick(product: object): Record<"info" | "ingest" | "assemble" | "compact", unknown> {
  const read = (key: string) => {
    try {
      return Reflect.get(product, key) as unknown;
    } catch {
      return undefined;
    }
  };
  return {
    info: read("info"),
    ingest: read("ingest"),
    assemble: read("assemble"),
    compact: read("compact"),
  };
}

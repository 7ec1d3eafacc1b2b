// Lists how a factory's product breaks the contract.
import type { ContextEngine, ContextEngineInfo } from "@clew/plugin-sdk/core";
import { describeError, readQuietly } from "./describe-error.ts";
import { readInfo } from "./info.ts";
import { readMethods } from "./methods.ts";

/** The engine, or the one sentence that says all that is wrong with it. */
export type EngineValidation =
  | {
      ok: true;
      engine: ContextEngine;
      /** What it says of itself, as a frozen snapshot. */
      info: Readonly<ContextEngineInfo>;
    }
  | {
      ok: false;
      /** For people. */
      message: string;
    };

/** Checks what a factory returned (contract §2.3); never throws, whatever that is. */
export function validateEngine(engineId: string, product: unknown): EngineValidation {
  if (typeof product !== "object" || product === null) {
    const shown =
      readQuietly(() => JSON.stringify(product)?.slice(0, 200)) ?? describeError(product);
    return {
      ok: false,
      message: `Context engine "${engineId}" factory returned ${shown} instead of a ContextEngine object.`,
    };
  }
  const info = readInfo(product);
  const { problems } = readMethods(product);
  if (info.ok && problems.length === 0)
    return { ok: true, engine: product as ContextEngine, info: info.info };
  const all = [...(info.ok ? [] : info.problems), ...problems];
  return {
    ok: false,
    message: `Context engine "${engineId}" factory returned an invalid ContextEngine: ${all.join(", ")}.`,
  };
}

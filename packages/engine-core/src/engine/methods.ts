// Reads which methods of the contract an engine has, once for all calls of a scope.
import type { ContextEngine } from "@clew/plugin-sdk/core";
import { describeError } from "./describe-error.ts";

export const REQUIRED_METHODS = ["ingest", "assemble", "compact"] as const;
export const OPTIONAL_METHODS = [
  "bootstrap",
  "maintain",
  "ingestBatch",
  "afterTurn",
  "commitTurn",
  "prepareSubagentSpawn",
  "onSubagentEnded",
] as const;
const ALL = [...REQUIRED_METHODS, ...OPTIONAL_METHODS, "dispose"] as const;

type MethodName = (typeof ALL)[number];
/** Called with the raw engine as `this`: engines may use private fields. */
export type RawMethod = (this: ContextEngine, ...args: unknown[]) => unknown;

/** The methods an engine has, as they were when they were read, and what is wrong with them. */
export interface MethodsReading {
  methods: Partial<Record<MethodName, RawMethod>>;
  problems: readonly string[];
}

/** Own `undefined` properties count as absent; a getter that throws is a problem of its method. */
export function readMethods(engine: object): MethodsReading {
  const methods: MethodsReading["methods"] = {};
  const problems: string[] = [];
  for (const name of ALL) {
    try {
      const value: unknown = (engine as Record<string, unknown>)[name];
      if (typeof value === "function") methods[name] = value as RawMethod;
    } catch (error) {
      problems.push(`${name}() could not be read: ${describeError(error)}`);
      continue;
    }
    if (methods[name] === undefined && isRequired(name)) problems.push(`missing ${name}()`);
  }
  return { methods, problems };
}

const isRequired = (name: string) => (REQUIRED_METHODS as readonly string[]).includes(name);

// What a conformance case is: data with an id, the engines it is for, and a run that throws one sentence when the engine breaks the rule.
import type { ContextEngine, EngineMethod } from "../contract/engine.ts";
import type { HostAddedParam } from "../contract/info.ts";
import type { CaseContext } from "./case-context.ts";

export const CASE_GROUPS = [
  "contract",
  "host",
  "ingest",
  "idempotence",
  "after-turn",
  "assemble",
  "order",
  "pairing",
  "budget",
  "determinism",
  "input",
  "compact",
  "abort",
  "commit",
  "crash",
  "subagents",
  "dispose",
  "isolation",
] as const;

export type CaseGroup = (typeof CASE_GROUPS)[number];

/** One rule of the contract, as a program. */
export interface ConformanceCase {
  /** `<group>/<name>`; never changes once published. */
  readonly id: string;
  readonly group: CaseGroup;
  /** The rule, as a sentence about the engine. */
  readonly title: string;
  /** Which engines the case is for, when not for all: "engines with commitTurn". */
  readonly appliesTo?: string;
  /** Reads `info` and which methods exist, nothing else. Absent = every engine. */
  when?(engine: ContextEngine): boolean;
  /** Resolves when the engine keeps the rule; else throws a CaseFailure. */
  run(context: CaseContext): Promise<void>;
}

/** The engine broke the rule; the message is one sentence. */
export class CaseFailure extends Error {
  override readonly name = "CaseFailure";
}

/** Throws a CaseFailure with `reason` unless `holds`. */
export function check(holds: boolean, reason: string): asserts holds {
  if (!holds) throw new CaseFailure(reason);
}

type Method<M extends EngineMethod> = NonNullable<ContextEngine[M]>;
type Params<M extends EngineMethod> = Parameters<Method<M>>[0];
type Result<M extends EngineMethod> = Awaited<ReturnType<Method<M>>>;

/** Calls an engine as a host does; a throw is a CaseFailure that names the method. */
export async function call<M extends EngineMethod>(
  engine: ContextEngine,
  method: M,
  params: Params<M>,
): Promise<Result<M>> {
  try {
    return await callRaw(engine, method, params);
  } catch (error) {
    throw new CaseFailure(`${method}() threw: ${describe(error)}`, { cause: error });
  }
}

/** The same call; what the engine throws comes through as it is. */
export async function callRaw<M extends EngineMethod>(
  engine: ContextEngine,
  method: M,
  params: Params<M>,
): Promise<Result<M>> {
  const implementation = engine[method] as ((params: unknown) => unknown) | undefined;
  if (typeof implementation !== "function") throw new CaseFailure(`${method}() is not a function.`);
  return (await implementation.call(engine, accepted(engine, method, params))) as Result<M>;
}

export function describe(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.replace(/\s+/g, " ").trim().slice(0, 300) || "no message";
}

export const ownsCompaction = (engine: ContextEngine) => engine.info.ownsCompaction === true;

/** For a case about one optional method. */
export function onlyWith(
  ...methods: (EngineMethod | "dispose")[]
): Required<Pick<ConformanceCase, "appliesTo" | "when">> {
  return {
    appliesTo: `engines with ${methods.join(" and ")}`,
    when: (engine) => methods.every((method) => typeof engine[method] === "function"),
  };
}

export const ownersOnly = { appliesTo: "engines that own compaction", when: ownsCompaction };
export const nonOwnersOnly = {
  appliesTo: "engines that own no compaction",
  when: (engine: ContextEngine) => !ownsCompaction(engine),
};

const HOST_ADDED: readonly HostAddedParam[] = [
  "sessionKey",
  "prompt",
  "runtimeSettings",
  "sessionTarget",
  "runtimeContext",
  "abortSignal",
];

/** Hosts leave out what an engine says it does not accept (contract §2.4); `compact` keeps its signal. */
function accepted(engine: ContextEngine, method: EngineMethod, params: object): object {
  const declared = engine.info.acceptedHostParams;
  if (declared === undefined) return params;
  const dropped = HOST_ADDED.filter(
    (key) => !declared.includes(key) && !(method === "compact" && key === "abortSignal"),
  );
  return Object.fromEntries(
    Object.entries(params).filter(([key]) => !dropped.some((name) => name === key)),
  );
}

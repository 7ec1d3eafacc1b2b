// Calls an engine as hosts do and turns a throw into a failed case.
import type { ContextEngine, EngineMethod } from "../contract/engine.ts";
import { declaredParams } from "../declared-params.ts";
import { isRecord } from "../is-record.ts";
import { patiently } from "./patience.ts";

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

/** How long the calls of one engine under test are waited for. */
export interface CallWatch {
  /** Ms in which the process does nothing, or in which it works. */
  readonly boundMs: number;
  /** Methods that were waited for in vain: they are not called again. */
  readonly silent: Set<EngineMethod>;
}

const watches = new WeakMap<ContextEngine, CallWatch>();

/** Tells `watch` of the engine's calls from here on. */
export const watchCalls = (engine: ContextEngine, watch: CallWatch): void =>
  void watches.set(engine, watch);

/** Methods whose results the cases read. */
const READ: ReadonlySet<EngineMethod> = new Set<EngineMethod>(["assemble", "compact"]);

/** Calls an engine as a host does; a throw, or nothing, is a CaseFailure that names the method. */
export async function call<M extends EngineMethod>(
  engine: ContextEngine,
  method: M,
  params: Params<M>,
): Promise<Result<M>> {
  let result: Result<M>;
  try {
    result = await callRaw(engine, method, params);
  } catch (error) {
    if (error instanceof CaseFailure) throw error;
    throw new CaseFailure(`${method}() threw: ${describe(error)}`, { cause: error });
  }
  check(
    !READ.has(method) || (typeof result === "object" && result !== null),
    `${method}() returned ${result === null ? "null" : typeof result}; expected an object.`,
  );
  return result;
}

/** The same call; what the engine throws comes through as it is. */
export async function callRaw<M extends EngineMethod>(
  engine: ContextEngine,
  method: M,
  params: Params<M>,
): Promise<Result<M>> {
  const implementation = engine[method] as ((params: unknown) => unknown) | undefined;
  if (typeof implementation !== "function") throw new CaseFailure(`${method}() is not a function.`);
  const watch = watches.get(engine);
  const loan = lend(method, accepted(engine, method, params));
  const work = async (): Promise<Result<M>> => {
    try {
      return (await implementation.call(engine, loan.params)) as Result<M>;
    } finally {
      loan.end();
    }
  };
  if (watch === undefined) return work();
  check(
    !watch.silent.has(method),
    `${method}() did not answer in an earlier case and is not called again.`,
  );
  const onTimeout = () => {
    watch.silent.add(method);
    return tooLate(`${method}()`, watch.boundMs);
  };
  return patiently(watch.boundMs, onTimeout, work);
}

/** What is lent to a call in `runtimeContext` works until the call has answered, not longer. */
function lend(method: EngineMethod, params: object): { params: object; end: () => void } {
  const { runtimeContext } = params as { runtimeContext?: unknown };
  if (!isRecord(runtimeContext)) return { params, end: () => {} };
  let isOver = false;
  const lent = (value: unknown, name: string): unknown => {
    if (typeof value === "function")
      return (...given: unknown[]) => {
        if (isOver) throw new Error(`${name} was lent to a call of ${method}() that is over`);
        return value(...given);
      };
    if (!isRecord(value) || !Object.values(value).some((part) => typeof part === "function"))
      return value;
    return lentParts(value, name);
  };
  const lentParts = (parts: Record<string, unknown>, name: string) =>
    Object.fromEntries(
      Object.entries(parts).map(([key, part]) => [key, lent(part, `${name}.${key}`)]),
    );
  return {
    params: { ...params, runtimeContext: lentParts(runtimeContext, "runtimeContext") },
    end: () => {
      isOver = true;
    },
  };
}

/** For waits that are no call of a method. */
export function tooLate(what: string, boundMs: number): never {
  throw new CaseFailure(`${what} did not answer within ${boundMs / 1000} s.`);
}

export function describe(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.replace(/\s+/g, " ").trim().slice(0, 300) || "no message";
}

function accepted(engine: ContextEngine, method: EngineMethod, params: object): object {
  const declared = engine.info.acceptedHostParams;
  return declared === undefined ? params : declaredParams(method, params, declared);
}

// What one engine call is lent, and how all of it ends with the call.
import { ContextEngineError, type LlmCompleteParams } from "@clew/plugin-sdk/core";
import {
  type EngineMethod,
  isRecord,
  linkSignals,
  type RuntimeCompaction,
} from "@clew/plugin-sdk/host";
import { takeRewriteRequest } from "./rewrite-request.ts";

/** One call as the engine sees it. */
export interface LentCall {
  /** The host's parameters, with what is lent in them. */
  readonly params: object;
  /** Fires with the run's signal and the host's own, and at the bound. */
  readonly signal: AbortSignal;
  /** The built-in compaction, for this call only; undefined when the host has none. */
  compaction(builtIn: RuntimeCompaction | undefined): RuntimeCompaction | undefined;
  /** Takes everything back. With a `reason`, the call's own signal fires with it. */
  end(reason?: Error): void;
}

const REWRITE = "runtimeContext.rewriteTranscriptEntries";
/** These always know when to stop; others do where the host says so. */
const STOPPABLE: ReadonlySet<EngineMethod> = new Set(["compact", "maintain"]);

/**
 * Lends the functions of `runtimeContext` to one call: once it has ended or was told to stop, or
 * its engine has been set aside, they throw one sentence and do nothing (contract, law 4). Its
 * `abortSignal` fires with the run's, with the host's own and at the bound.
 */
export function lendCall(request: {
  engineId: string;
  method: EngineMethod;
  params: object;
  signal: AbortSignal | undefined;
  /** True once the engine has been set aside. */
  isAside: () => boolean;
}): LentCall {
  const { engineId, method, params, isAside } = request;
  const { abortSignal, runtimeContext } = params as {
    abortSignal?: AbortSignal;
    runtimeContext?: unknown;
  };
  const stop = linkSignals(request.signal, abortSignal);
  const over = new AbortController();

  function assertLent(name: string): void {
    if (!over.signal.aborted && !stop.signal.aborted && !isAside()) return;
    throw new ContextEngineError(
      "ENGINE_OPERATION_FAILED",
      `${name} was lent to a call of ${method}() that is over; nothing was done.`,
      { engineId, operation: method },
    );
  }
  const lend: Lend =
    (name, capability) =>
    (...args) => {
      assertLent(name);
      return capability(...args);
    };
  const lendModel: Lend = (name, capability) => async (ask) => {
    assertLent(name);
    const { signal } = ask as LlmCompleteParams;
    return capability({ ...(ask as object), signal: joined(signal, over.signal) });
  };
  const lendRewrite: Lend = (name, capability) => async (request) => {
    assertLent(name);
    return capability(takeRewriteRequest(request));
  };
  const lendContext = (context: Record<string, unknown>) => ({
    ...context,
    ...lendFunctions("runtimeContext", context, (name, capability) =>
      (name === REWRITE ? lendRewrite : lend)(name, capability),
    ),
    ...(isRecord(context.llm) && {
      llm: { ...context.llm, ...lendFunctions("runtimeContext.llm", context.llm, lendModel) },
    }),
  });

  return {
    signal: stop.signal,
    params: {
      ...params,
      ...((abortSignal !== undefined || STOPPABLE.has(method)) && { abortSignal: stop.signal }),
      ...(isRecord(runtimeContext) && { runtimeContext: lendContext(runtimeContext) }),
    },
    compaction: (builtIn) =>
      builtIn &&
      (async (given) => {
        assertLent("The host's built-in compaction");
        return builtIn({ ...given, abortSignal: joined(given.abortSignal, stop.signal) });
      }),
    end(reason) {
      if (reason !== undefined) stop.abort(reason);
      stop.release();
      over.abort(reason ?? CALL_OVER);
    },
  };
}

/** One for all calls: making it takes as long as a call of a small engine. */
const CALL_OVER = new DOMException("The call of the engine is over.", "AbortError");

type Capability = (...args: unknown[]) => unknown;
type Lend = (name: string, capability: Capability) => Capability;

/** The functions among `fields`, each lent under its full name. */
function lendFunctions(owner: string, fields: Record<string, unknown>, lend: Lend) {
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([, value]) => typeof value === "function")
      .map(([key, value]) => [key, lend(`${owner}.${key}`, (value as Capability).bind(fields))]),
  );
}

const joined = (first: AbortSignal | undefined, second: AbortSignal): AbortSignal =>
  first === undefined || first === second ? second : AbortSignal.any([first, second]);

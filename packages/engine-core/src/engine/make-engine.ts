// Makes one engine by its factory, within a bound and to the contract.
import { ContextEngineError, type EngineFactoryContext, isAbort } from "@clew/plugin-sdk/core";
import { within } from "@clew/plugin-sdk/host";
import type { LogPort } from "../ports.ts";
import { type Bounds, engineTimeout } from "./bounds.ts";
import { describeError } from "./describe-error.ts";
import { disposeEngine } from "./dispose.ts";
import type { EngineRegistration } from "./registration.ts";
import { type EngineValidation, validateEngine } from "./validate.ts";

/**
 * Throws ENGINE_FACTORY_FAILED, ENGINE_TIMEOUT or ENGINE_CONTRACT_INVALID, and a factory's
 * AbortError as it is. What comes half built or too late is disposed.
 */
export async function makeEngine(
  { engineId, factory }: EngineRegistration,
  context: EngineFactoryContext,
  { bounds, log }: { bounds: Bounds; log: LogPort },
): Promise<Extract<EngineValidation, { ok: true }>> {
  const discard = (product: unknown) => disposeEngine(product, engineId, bounds.dispose, log);
  const making = (async () => factory(context))();
  const product = await within<unknown>(
    {
      boundMs: bounds.factory,
      onTimeout: () => {
        void making.then(discard, () => {});
        throw engineTimeout(engineId, "factory", bounds.factory);
      },
    },
    () => making,
  ).catch((error: unknown) => {
    throw asFactoryFailure(engineId, error);
  });
  const validation = validateEngine(engineId, product);
  if (validation.ok) return validation;
  await discard(product);
  throw new ContextEngineError("ENGINE_CONTRACT_INVALID", validation.message, {
    engineId,
    operation: "contract-validation",
  });
}

function asFactoryFailure(engineId: string, cause: unknown): unknown {
  if (ContextEngineError.is(cause) || isAbort(cause)) return cause;
  const message = `Context engine "${engineId}" could not be created: ${describeError(cause)}.`;
  return new ContextEngineError("ENGINE_FACTORY_FAILED", message, {
    engineId,
    operation: "factory",
    cause,
  });
}

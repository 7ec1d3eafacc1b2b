// How an engine is broken in one place and correct everywhere else.
import type { ContextEngine } from "../../contract/engine.ts";
import type { AssembleResult } from "../../contract/lifecycle.ts";
import type { AgentMessage } from "../../contract/message.ts";
import type { SessionRef } from "../../contract/session.ts";
import { type EngineStore, nameOf, stored } from "../full-engine.ts";
import { createMemoryEngine } from "../memory-engine.ts";

type Full = Required<ContextEngine>;
/**
 * `restarts`: how often the engine was made over this storage before; `withoutFolder`: it is made
 * without an argument.
 */
export type Break = (
  full: Full,
  store: EngineStore,
  restarts: number,
  withoutFolder?: boolean,
) => ContextEngine;

/** By the id of the case that must catch it. */
export type BrokenEngines = Readonly<Record<string, Break>>;

/** The memory engine with some members replaced. */
export const memoryWith = (change: (memory: ContextEngine) => Partial<ContextEngine>): Break => {
  return () => {
    const engine = createMemoryEngine();
    return { ...engine, ...change(engine) };
  };
};

/** The same with the engine that has every method. */
export const fullWith = (
  change: (full: Full, store: EngineStore, restarts: number) => Partial<ContextEngine>,
): Break => {
  return (engine, store, restarts) => ({ ...engine, ...change(engine, store, restarts) });
};

/** An assemble whose result is changed afterwards. */
export const reassemble =
  (change: (result: AssembleResult) => Partial<AssembleResult>) =>
  (engine: ContextEngine): Partial<ContextEngine> => ({
    async assemble(params) {
      const result = await engine.assemble(params);
      return { ...result, ...change(result) };
    },
  });

/** What is not of the type it claims. */
export const lie = <T>(value: unknown) => value as T;

/** Lets everybody else have a turn. */
export const tick = () => Promise.resolve();

/** Stores copies under new names, as an engine without stable ids does. */
export const storeAgain = (
  store: EngineStore,
  ref: SessionRef,
  messages: readonly AgentMessage[],
) => {
  const session = stored(store, ref);
  for (const message of messages)
    session.messages.set(
      `${nameOf(message)} copy ${session.messages.size}`,
      structuredClone(message),
    );
};

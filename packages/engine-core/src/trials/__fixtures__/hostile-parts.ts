// What hostile engines are put together from.
import type {
  AgentMessage,
  AssembleResult,
  ContextEngine,
  RuntimeContext,
  TranscriptRewriteRequest,
} from "@clew/plugin-sdk/core";
import { sensibleEngine } from "./ordeal.ts";

/** Awaiting it takes for ever. */
export const NEVER = new Promise<never>(() => {});

export const user = (content: string): AgentMessage => ({ role: "user", content });

/** The answer of an `assemble`, right or not. */
export const result = (messages: unknown, more: object = {}): AssembleResult =>
  ({ messages, estimatedTokens: 0, ...more }) as AssembleResult;

/** An engine that is right but for what is given here. */
export const engineWith = (overrides: Record<string, unknown>): ContextEngine =>
  ({ ...sensibleEngine(), ...overrides }) as ContextEngine;

export const assembling = (assemble: (messages: AgentMessage[]) => unknown) =>
  engineWith({ assemble: ({ messages }: { messages: AgentMessage[] }) => assemble(messages) });

export const durableEngineWith = (overrides: Record<string, unknown>) =>
  engineWith({
    info: {
      ...sensibleEngine().info,
      transcriptSemantics: {
        currentTurnFence: "before-current-turn-entry-v1",
        turnAdvancementIdempotency: "atomic-idempotent-v1",
      },
    },
    commitTurn: () => ({ status: "committed" }),
    ...overrides,
  });

/** What calls after a turn are lent, as far as these engines use it. */
export interface Lent {
  messages: AgentMessage[];
  runtimeContext: {
    rewriteTranscriptEntries?: (asked: TranscriptRewriteRequest) => Promise<unknown>;
    llm?: RuntimeContext["llm"];
  };
}

export function cyclic(): object {
  const message: Record<string, unknown> = { role: "user", content: "round" };
  message.details = message;
  return message;
}

export function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

/** Keeps the process busy, as a loop without an await does. */
export function block(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

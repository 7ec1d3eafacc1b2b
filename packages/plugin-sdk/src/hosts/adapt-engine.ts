// Gives an engine what hosts other than Clew ask of one, and Clew does not.
import type { ContextEngine, EngineMethod } from "../contract/engine.ts";
import type { ContextEngineInfo } from "../contract/info.ts";
import type {
  AssembleParams,
  AssembleResult,
  CommitTurnParams,
  CommitTurnResult,
  CompactParams,
} from "../contract/lifecycle.ts";
import type { AgentMessage } from "../contract/message.ts";
import type { SessionRef } from "../contract/session.ts";
import { delegateCompactionToRuntime, isRuntimeCompactionDelegate } from "../delegate.ts";
import { messageId } from "../transcript/message-id.ts";
import { withDerivedIds, withoutDerivedIds } from "./derived-ids.ts";
import { withTimes } from "./message-times.ts";
import { historyMeant, marked, type ShownView } from "./shown-view.ts";

const DURABLE = {
  currentTurnFence: "before-current-turn-entry-v1",
  turnAdvancementIdempotency: "atomic-idempotent-v1",
} as const;

/** How turns reach the engine in a host that commits each of them once. */
export type TurnTaking =
  /** It commits them itself. */
  | "own"
  /** It keeps nothing of them, so there is nothing to do twice. */
  | "nothing-kept"
  /** It may store them, and not in one step with their key. */
  | "not-atomic";

/** Pure. `ingest` alone is what engines have that read the transcript only. */
export function turnTakingOf(engine: Partial<ContextEngine>): TurnTaking {
  if (typeof engine.commitTurn === "function") return "own";
  return engine.afterTurn === undefined && engine.ingestBatch === undefined
    ? "nothing-kept"
    : "not-atomic";
}

/** What is remembered of what other engine objects were told: hosts make one per turn. */
export interface HostMemory {
  /** Session → the tokens that its newest view might use. */
  readonly budgets: Map<string, number>;
  /** Turns that were committed, by session and key. */
  readonly committed: Map<string, true>;
}

/** Of each kind; the oldest are forgotten. */
const MAX_REMEMBERED = 1_000;

export const noMemory = (): HostMemory => ({ budgets: new Map(), committed: new Map() });

interface Answered extends ShownView {
  tokenBudget: number | undefined;
  /** Undefined: a compaction came after it. */
  answer: AssembleResult | undefined;
}

/**
 * An engine for a host that makes and disposes one per turn, hands it its own view between the
 * calls of a turn, gives messages no ids, and uses only engines that commit turns by key. The
 * given engine stays as it is.
 */
export function adaptEngine(engine: ContextEngine, memory: HostMemory): ContextEngine {
  const shown = new Map<string, Answered>();
  const taking = turnTakingOf(engine);

  async function assemble(params: AssembleParams): Promise<AssembleResult> {
    const before = shown.get(params.sessionId);
    const { history, isOwnView } = historyMeant(params.messages, before);
    const messages = withDerivedIds(history);
    const tokenBudget = isOwnView
      ? smaller(before?.tokenBudget, params.tokenBudget)
      : params.tokenBudget;
    remember(memory.budgets, sessionOf(params), tokenBudget);
    const known =
      isOwnView && messages.length === before?.history.length && tokenBudget === before.tokenBudget
        ? before.answer
        : undefined;
    if (known !== undefined) return known;
    const { tokenBudget: _given, ...rest } = params;
    const answer = await engine.assemble({
      ...{ ...rest, messages },
      ...(tokenBudget !== undefined && { tokenBudget }),
    });
    if (!Array.isArray(answer?.messages)) return answer;
    const mark = markFor(messages);
    const told = {
      ...answer,
      messages: marked(withTimes(withoutDerivedIds(answer.messages, history)), mark),
    };
    shown.set(params.sessionId, { mark, history: messages, tokenBudget, answer: told });
    return told;
  }

  async function commitTurn(params: CommitTurnParams): Promise<CommitTurnResult> {
    shown.delete(params.sessionId);
    const messages = withDerivedIds(params.messages);
    if (engine.commitTurn !== undefined) return engine.commitTurn({ ...params, messages });
    const turn = JSON.stringify([params.sessionId, params.advancementKey]);
    if (memory.committed.has(turn)) return { status: "duplicate" };
    remember(memory.committed, turn, true);
    try {
      await tell({ ...params, messages });
    } catch (error) {
      memory.committed.delete(turn);
      throw error;
    }
    return { status: "committed" };
  }

  async function tell({ messages, sessionId, sessionKey, isHeartbeat }: CommitTurnParams) {
    for (const message of messages) {
      const { ingested } = await engine.ingest({
        ...{ sessionId, message },
        ...(sessionKey !== undefined && { sessionKey }),
        ...(isHeartbeat !== undefined && { isHeartbeat }),
      });
      if (ingested) throw new Error(storesWithoutKey(engine.info));
    }
  }

  async function compact(params: CompactParams) {
    const before = shown.get(params.sessionId);
    if (before !== undefined) before.answer = undefined;
    const { tokenBudget: given, ...rest } = withoutKeyAsFile(params);
    const tokenBudget = smaller(given, memory.budgets.get(sessionOf(params)));
    return engine.compact({ ...rest, ...(tokenBudget !== undefined && { tokenBudget }) });
  }

  const isUsed = taking !== "not-atomic";
  return {
    get info() {
      const { info } = engine;
      return isUsed ? { ...info, transcriptSemantics: DURABLE } : info;
    },
    ...bound(engine),
    assemble,
    // The very same function: hosts know their own compaction by it. An engine that is not used
    // must not be asked to shorten what another one shows.
    compact: !isUsed
      ? delegateCompactionToRuntime
      : isRuntimeCompactionDelegate(engine.compact)
        ? engine.compact
        : compact,
    ...(isUsed && { commitTurn }),
    async dispose() {
      shown.clear();
      await engine.dispose?.();
    },
  };
}

/** The same for the same history, so that an engine's answer is the same each time. */
function markFor(history: readonly AgentMessage[]): string {
  const newest = history.at(-1);
  return `${history.length} ${(newest && messageId(newest)) ?? ""}`;
}

/** The methods that need only their parameters mended, on the engine's own `this`. */
function bound(engine: ContextEngine): Pick<ContextEngine, "ingest"> {
  const names = [
    ...["bootstrap", "maintain", "ingest", "ingestBatch", "afterTurn"],
    ...["prepareSubagentSpawn", "onSubagentEnded"],
  ] as EngineMethod[];
  const methods = names.flatMap((name) => {
    const method = engine[name] as ((params: object) => unknown) | undefined;
    if (typeof method !== "function") return [];
    return [[name, (params: object) => method.call(engine, withoutKeyAsFile(params))] as const];
  });
  return Object.fromEntries(methods) as unknown as Pick<ContextEngine, "ingest">;
}

/** Some hosts name the session by its key where its file is meant. */
function withoutKeyAsFile<Params extends object>(params: Params): Params {
  const { sessionFile, ...rest } = params as Params & { sessionFile?: unknown };
  const isPath = typeof sessionFile === "string" && /^(?:[\\/]|[A-Za-z]:[\\/])/.test(sessionFile);
  return isPath || sessionFile === undefined ? params : (rest as Params);
}

/** Undefined: it is forgotten. */
function remember<Value>(known: Map<string, Value>, key: string, value: Value | undefined): void {
  known.delete(key);
  if (value !== undefined) known.set(key, value);
  for (const oldest of known.keys()) {
    if (known.size <= MAX_REMEMBERED) return;
    known.delete(oldest);
  }
}

const sessionOf = ({ sessionKey, sessionId }: SessionRef) => sessionKey ?? sessionId;

const smaller = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);

/** What an operator reads of an engine that this host cannot use. */
export const storesWithoutKey = ({ id }: ContextEngineInfo): string =>
  `Engine "${id}" stores messages and has no commitTurn, so it cannot be told a turn exactly once; this host answers without it. Its author has to add commitTurn.`;

// What a host keeps in memory per open session between turns.
import type { AgentMessage, Usage } from "@clew/plugin-sdk/core";
import { buildContext, type TranscriptContext } from "@clew/plugin-sdk/transcript";
import type { TranscriptPort } from "../ports.ts";
import { type CappedView, createCappedView } from "../request/capped-view.ts";
import { emptyRequestMemory, type RequestMemory } from "../request/request-items.ts";
import type { Measurement } from "../request/request-size.ts";
import { rememberedPrefix, type SharedPrefix } from "../request/shared-prefix.ts";
import { createTokenSums, type TokenSums } from "../request/token-sums.ts";
import { idleLane, type MaintenanceLane } from "./maintenance-lane.ts";

/**
 * One per open session, kept by the host from turn to turn and handed to every call about that
 * session. What is marked internal belongs to engine-core alone.
 */
export interface SessionState {
  /** What the transcript amounted to when it was last looked at; undefined = not looked at yet. */
  context: TranscriptContext | undefined;
  /**
   * The messages of `context`, in step with its items; grows in place and is never handed out.
   * @internal
   */
  messages: AgentMessage[];
  /**
   * True when some of them are runtime context, which engines must not see.
   * @internal
   */
  holdsRuntimeContext: boolean;
  /**
   * Entry ids of transcript messages, by message object.
   * @internal
   */
  entryIds: WeakMap<AgentMessage, string>;
  /**
   * The last request's messages as reported, for the next delta.
   * @internal
   */
  request: RequestMemory;
  /**
   * Sums over what engines return.
   * @internal
   */
  assemblySums: TokenSums;
  /**
   * Sums over whole requests.
   * @internal
   */
  requestSums: TokenSums;
  /** @internal */
  capped: CappedView;
  /**
   * Compares whole requests, which are never changed once made.
   * @internal
   */
  prefixOf: SharedPrefix;
  /** @internal */
  modelCalls: number;
  /**
   * What the provider counted for the last successful call; undefined after a compaction. A host
   * that changes the branch by other means than a turn sets it to undefined.
   */
  measurement: Measurement | undefined;
  /** Background maintenance of this session; a host awaits it with `settleMaintenance`. */
  maintenance: MaintenanceLane;
  /** Usage of the last successful model call; undefined = there was none. */
  lastUsage: Usage | undefined;
  /**
   * Entry ids of messages an engine without `bootstrap` has not been given yet: turns that failed
   * or were aborted. A host that appends entries again under other ids moves them along.
   */
  undelivered: Set<string>;
}

/** The state of a session that was just opened. */
export function createSessionState(): SessionState {
  const prefixOf = rememberedPrefix();
  return {
    context: undefined,
    messages: [],
    holdsRuntimeContext: false,
    entryIds: new WeakMap(),
    request: emptyRequestMemory(),
    assemblySums: createTokenSums(),
    requestSums: createTokenSums(prefixOf),
    capped: createCappedView(prefixOf),
    prefixOf,
    modelCalls: 0,
    measurement: undefined,
    maintenance: idleLane(),
    lastUsage: undefined,
    undelivered: new Set(),
  };
}

/** The session's context now; costs as much as grew since the last call. */
export function refreshContext(state: SessionState, transcript: TranscriptPort): TranscriptContext {
  const before = state.context;
  const branch = transcript.branch();
  if (before !== undefined && before.branch === branch) return before;
  const context = buildContext(branch, before);
  const reused =
    before !== undefined && context.items[before.items.length - 1] === before.items.at(-1)
      ? before.items.length
      : 0;
  const fresh = context.items.slice(reused);
  for (const { message, entryId } of fresh) state.entryIds.set(message, entryId);
  state.messages.length = reused;
  for (const { message } of fresh) state.messages.push(message);
  state.holdsRuntimeContext =
    (reused > 0 && state.holdsRuntimeContext) ||
    fresh.some(({ message }) => isRuntimeContext(message));
  state.context = context;
  return context;
}

/**
 * Text a host injects for one run; engines and the stored history never see it
 * (transcript policy R2b).
 */
const isRuntimeContext = (message: AgentMessage) =>
  message.role === "custom" && message.customType === "openclaw.runtime-context";

/** Stored messages from `start` to `end` of the context, without runtime context. */
export function contextMessages(
  state: SessionState,
  start: number,
  end?: number,
): readonly AgentMessage[] {
  const messages = state.messages.slice(start, end);
  return state.holdsRuntimeContext
    ? messages.filter((message) => !isRuntimeContext(message))
    : messages;
}

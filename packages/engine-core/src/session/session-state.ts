// What a host keeps in memory per open session between turns.
import type { AgentMessage, Usage } from "@clew/plugin-sdk/core";
import type { CallCount } from "@clew/plugin-sdk/host";
import { type Steps, stepsInSlices } from "@clew/plugin-sdk/host";
import { estimateMessageSteps } from "@clew/plugin-sdk/tokens";
import {
  buildContext,
  type ContextItem,
  contextSteps,
  type TranscriptContext,
  type TranscriptEntry,
  toolResultLength,
} from "@clew/plugin-sdk/transcript";
import type { DeliveryPort } from "../delivery-port.ts";
import type { CacheReport } from "../report/model-call.ts";
import { type CappedView, createCappedView } from "../request/capped-view.ts";
import { isHeartbeatPrompt } from "../request/heartbeats.ts";
import { createMessageTable, type MessageTable } from "../request/message-table.ts";
import type { SentRequest } from "../request/predict-cache.ts";
import { emptyRequestMemory, type RequestMemory } from "../request/request-items.ts";
import type { Measurement } from "../request/request-size.ts";
import type { SentAside } from "../request/sent-aside.ts";
import { rememberedPrefix, type SharedPrefix } from "../request/shared-prefix.ts";
import { createTokenSums, type TokenSums } from "../request/token-sums.ts";
import { asChanged, asHistory, type ViewItem, withMessages } from "../request/view-item.ts";
import { emptyWithheld, type WithheldMemory } from "../request/withheld.ts";
import type { TranscriptPort } from "../transcript-port.ts";
import { createDeliveryLedger } from "./delivery-ledger.ts";
import { idleLane, type MaintenanceLane } from "./maintenance-lane.ts";
import { openLock, type SessionLock } from "./session-lock.ts";
import type { PendingScan } from "./settled-scan.ts";
import { isRuntimeContext } from "./told-messages.ts";

/** A call's cache report, beside what the call before it had read. */
export interface ObservedCache {
  report: CacheReport;
  /** Tokens; undefined = there was none before, or it did not say. */
  previousRead: number | undefined;
}

/**
 * One per open session, kept by the host from turn to turn and handed to every call about that
 * session. What is marked internal belongs to engine-core alone.
 */
export interface SessionState {
  /**
   * The active branch as it was read last, oldest first; another array when it changed.
   * @internal
   */
  branch: readonly TranscriptEntry[];
  /** What the transcript amounted to when it was last looked at; undefined = not looked at yet. */
  context: TranscriptContext | undefined;
  /**
   * The messages of `context`, in step with its items; grows in place and is never handed out.
   * @internal
   */
  items: ViewItem[];
  /**
   * The messages of `items`, in step with them.
   * @internal
   */
  messages: AgentMessage[];
  /**
   * True when some of them are runtime context, which engines must not see.
   * @internal
   */
  holdsRuntimeContext: boolean;
  /**
   * True when some of them began heartbeat turns.
   * @internal
   */
  holdsHeartbeats: boolean;
  /** @internal */
  table: MessageTable;
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
  /**
   * Sums over running turns.
   * @internal
   */
  turnSums: TokenSums;
  /**
   * Model calls of the branch as it was read last; undefined = not counted yet.
   * @internal
   */
  callCount: CallCount | undefined;
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
   * that changes the branch by other means than a turn sets it to undefined, and one that opens a
   * session whose last request it kept to that request's ids and tokens.
   */
  measurement: Measurement | undefined;
  /**
   * What was kept from the model of the history as it was read last.
   * @internal
   */
  withheld: WithheldMemory;
  /** Background maintenance of this session; a host awaits it with `settleMaintenance`. */
  maintenance: MaintenanceLane;
  /**
   * One turn at a time.
   * @internal
   */
  lock: SessionLock;
  /**
   * The last request that was answered, to predict the provider's cache by.
   * @internal
   */
  sent: SentRequest | undefined;
  /**
   * What other models were last asked before that.
   * @internal
   */
  sentAside: SentAside;
  /** Usage of the last successful model call; undefined = there was none. */
  lastUsage: Usage | undefined;
  /**
   * What that call read from the provider's cache; undefined = there was none.
   * @internal
   */
  cache: ObservedCache | undefined;
  /**
   * What the last call was asked without, as it was logged; "" = it was sent all.
   * @internal
   */
  leftOut: string;
  /**
   * What engines have acknowledged, for hosts whose transcript keeps no record of it.
   * @internal
   */
  deliveries: DeliveryPort;
  /**
   * Where the search for what an engine has not acknowledged goes on, per engine.
   * @internal
   */
  scans: Map<string, PendingScan>;
  /**
   * Ids of what there was when an engine was first asked to bootstrap, while its first sight is not
   * on record.
   * @internal
   */
  firstLooks: Map<string, ReadonlySet<string>>;
  /**
   * Views the host could not use, per instance of an engine.
   * @internal
   */
  badViews: WeakMap<object, number>;
}

/** The state of a session that was just opened. */
export function createSessionState(): SessionState {
  const prefixOf = rememberedPrefix();
  return {
    branch: [],
    context: undefined,
    items: [],
    messages: [],
    holdsRuntimeContext: false,
    holdsHeartbeats: false,
    table: createMessageTable(),
    request: emptyRequestMemory(),
    withheld: emptyWithheld(),
    assemblySums: createTokenSums(),
    requestSums: createTokenSums(prefixOf),
    turnSums: createTokenSums(),
    callCount: undefined,
    capped: createCappedView(prefixOf),
    prefixOf,
    modelCalls: 0,
    measurement: undefined,
    maintenance: idleLane(),
    lock: openLock(),
    sent: undefined,
    sentAside: new Map(),
    lastUsage: undefined,
    cache: undefined,
    leftOut: "",
    deliveries: createDeliveryLedger(),
    scans: new Map(),
    firstLooks: new Map(),
    badViews: new WeakMap(),
  };
}

/**
 * Asks the transcript for what is new; for the whole branch only at first, and when what was known
 * is no longer part of it (a rewrite, an undone compaction).
 */
export async function readBranch(state: SessionState, transcript: TranscriptPort): Promise<void> {
  const known = state.branch;
  const after = known.at(-1)?.id ?? null;
  const fresh = await transcript.read({ after });
  const whole = fresh ?? (await transcript.read({ after: null })) ?? [];
  // Background maintenance and a turn may read at the same time.
  if (state.branch !== known) return readBranch(state, transcript);
  if (fresh !== null && known.length > 0) {
    if (fresh.length > 0) state.branch = known.concat(fresh);
    return;
  }
  const looked = await lookAtWhole(state, whole);
  if (state.branch !== known) return readBranch(state, transcript);
  state.branch = whole;
  takeContext(state, looked.context, looked.items);
}

/**
 * What a whole branch amounts to, with the estimates of its messages: all that would take long when
 * it is asked for the first time. Others have their turn meanwhile.
 */
async function lookAtWhole(
  { table }: SessionState,
  branch: readonly TranscriptEntry[],
): Promise<{ context: TranscriptContext; items: ViewItem[] }> {
  const context = await stepsInSlices(contextSteps(branch));
  const items: ViewItem[] = [];
  await stepsInSlices(itemSteps(context.items, table, items));
  return { context, items };
}

/** The items, estimated, are added to `found`. */
function* itemSteps(
  given: readonly ContextItem[],
  table: MessageTable,
  found: ViewItem[],
): Steps<void> {
  for (const item of given) {
    yield;
    const known = itemOf(item, table);
    const { message } = known;
    yield* estimateMessageSteps(message);
    // Its text is at hand now; a store may have to read it again later.
    if (message.role === "toolResult") toolResultLength(message);
    found.push(known);
  }
}

/** The messages of the branch as it was read; costs as much as grew since the last call. */
export function refreshContext(state: SessionState): readonly ViewItem[] {
  const { context: before, branch } = state;
  if (before !== undefined && before.branch === branch) return state.items;
  const context = buildContext(branch, before);
  const reused =
    before !== undefined && context.items[before.items.length - 1] === before.items.at(-1)
      ? before.items.length
      : 0;
  const added = context.items.slice(reused).map((item) => itemOf(item, state.table));
  takeContext(state, context, added, reused);
  return state.items;
}

const itemOf = (
  { id, entryId, message, isPruned = false }: ContextItem,
  table: MessageTable,
): ViewItem => ({
  id,
  message: table.canonical(message),
  why: isPruned ? asChanged(entryId) : asHistory(entryId),
});

/** `added` follow the first `reused` items. */
function takeContext(
  state: SessionState,
  context: TranscriptContext,
  added: readonly ViewItem[],
  reused = 0,
): void {
  state.items.length = reused;
  state.messages.length = reused;
  for (const item of added) {
    state.items.push(item);
    state.messages.push(item.message);
  }
  state.holdsRuntimeContext =
    (reused > 0 && state.holdsRuntimeContext) ||
    added.some(({ message }) => isRuntimeContext(message));
  state.holdsHeartbeats = (reused > 0 && state.holdsHeartbeats) || added.some(isHeartbeatPrompt);
  state.context = context;
}

/** Stored messages from `start` to `end` of the context, without runtime context. */
export function contextItems(state: SessionState, start: number, end?: number): ViewItem[] {
  const items = withMessages(state.items.slice(start, end), state.messages.slice(start, end));
  return state.holdsRuntimeContext
    ? items.filter(({ message }) => !isRuntimeContext(message))
    : items;
}

/**
 * Index of the item that holds message `id`, searched from the end; -1 = it is not in the context.
 */
export function indexOfMessage(items: readonly ViewItem[], id: string | undefined): number {
  return id === undefined ? -1 : items.findLastIndex((item) => item.id === id);
}

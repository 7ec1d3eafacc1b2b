// The context engine, whose methods each find the store and ask one module.
import {
  type AgentMessage,
  type AssembleParams,
  type BootstrapParams,
  type BootstrapResult,
  type CompactParams,
  type ContextEngine,
  delegateCompactionToRuntime,
  type EngineFactoryContext,
  type EngineRows,
  messageId,
  type RuntimeContext,
  type SessionRef,
} from "@clew/plugin-sdk/core";
import { estimateMessage, estimateMessages } from "@clew/plugin-sdk/tokens";
import { createAskedBudgets } from "./assemble/asked-budgets.ts";
import { assemblyOf, type ViewRequest, viewOf } from "./assemble/assemble.ts";
import { compactView, tellFocus } from "./assemble/compact.ts";
import { promptAddition } from "./assemble/prompt-addition.ts";
import type { Why } from "./assemble/show.ts";
import { checkStore } from "./commands/check-store.ts";
import { forgetDeleted } from "./forget/deleted.ts";
import { retain } from "./forget/retain.ts";
import { LOSSLESS_ENGINE_ID } from "./id.ts";
import { anchored } from "./ingest/anchored.ts";
import { historyOf } from "./ingest/history.ts";
import { importFile } from "./ingest/import-file.ts";
import { storeTold, type Told } from "./ingest/ingest.ts";
import { createReadings } from "./ingest/readings.ts";
import { createRefill } from "./ingest/refill.ts";
import { callOf, isMessage, refuse, refuseReusedKey } from "./ingest/refuse.ts";
import { storeSeen } from "./ingest/seen.ts";
import { createSiblings, type SiblingsDone } from "./ingest/siblings.ts";
import { tidied } from "./messages/tidy.ts";
import { nothingIn } from "./operating/describe-store.ts";
import { asFarAsPossible, patiently } from "./patiently.ts";
import { catchUpAPiece, catchUpInBackground } from "./search/catch-up.ts";
import type { OwnedSession } from "./sessions/owner.ts";
import { assertSettings, type EngineSettings } from "./settings.ts";
import { createSharing } from "./sharing/sharing.ts";
import { hasEarlier } from "./store/conversations.ts";
import { NOTHING, type Storing } from "./store/messages.ts";
import type { Store } from "./store/store.ts";
import { createStores, type Stores } from "./stores.ts";
import { growSession } from "./summaries/grow-session.ts";
import { createSpendings, type Spendings, spendingBounds } from "./summaries/spending.ts";
import { createGrants, type Grants } from "./tools/grants.ts";

/** In this lifecycle a host keeps the running turn to itself, and adds it to every view. */
const DURABLE = {
  currentTurnFence: "before-current-turn-entry-v1",
  turnAdvancementIdempotency: "atomic-idempotent-v1",
} as const;
/** Of each turn's maintenance, ms. */
const RETENTION_MS = 200;
/** Each for indexes and for summaries, where a reply waits, ms: a turn's take a few. */
const FOREGROUND_MS = 200;
const NOTHING_REWRITTEN = { changed: false, bytesFreed: 0, rewrittenEntries: 0 };

/** Why a view holds what it holds. */
export interface Explanation {
  /** In the order in which the model is shown them. */
  readonly items: readonly {
    /** The message's id; null = the engine wrote it. */
    readonly id: string | null;
    /** See `Why`. */
    readonly why: Why;
    /** Estimated. */
    readonly tokens: number;
  }[];
  /** How many of the given messages are not shown. */
  readonly hidden: number;
}

/** What the engine can do besides what every host asks. */
export interface LosslessEngine extends ContextEngine {
  /** Why `assemble` would show what it would show. */
  explain(params: AssembleParams): Promise<Explanation>;
  /** For hosts that ask an engine how its store is: `text` is one line for people. */
  control(request: { readonly operation: string }): Promise<{ ok: boolean; text: string }>;
  /** All that is stored of a session, in the order in which it came; the conformance kit asks. */
  storedMessages(session: SessionRef): Promise<AgentMessage[]>;
}

/** The lossless engine for one agent. Nothing is opened before the first call. */
export const createLosslessEngine = (
  { agentDir, sharedRows }: EngineFactoryContext = {},
  settings: EngineSettings = {},
): LosslessEngine => {
  assertSettings(settings);
  return engineOn(createStores(agentDir, settings), { ...settings, sharedRows });
};

/** What an engine shares with its tools. */
export interface EngineParts {
  /** What children are granted. Absent: nobody reads it. */
  readonly grants?: Grants;
  /** What was read of sessions' files besides their own. Absent: nobody shares it. */
  readonly siblingsDone?: SiblingsDone;
  /** What asking models has come to. Absent: nobody else knows, or goes on with it. */
  readonly spendings?: Spendings;
  /** Where sessions move between machines. Absent: they stay on this one. */
  readonly sharedRows?: EngineRows | undefined;
  /** Told how storing what was said in a session went. Absent: nobody is. */
  readonly onStored?: (session: SessionRef, failure?: unknown) => void;
  /** Told how many tokens the model of a session holds. Absent: nobody is. */
  readonly onWindow?: (session: SessionRef, tokens: number) => void;
  /** Told of a session whose numbers others of the database have, so that it gets others. */
  readonly onApart?: (session: SessionRef) => void;
  /** Told of a session that is made anew, as what another machine made of it cannot be used. */
  readonly onUnusable?: (session: SessionRef, what: { why: string; isNewer: boolean }) => void;
  /** Told of the path of a database that was deleted or moved away while it was open. */
  readonly onMovedAway?: (path: string) => void;
}

/** The engine on these stores. */
export function engineOn(stores: Stores, parts: EngineSettings & EngineParts = {}): LosslessEngine {
  const { durableTurns = false, grants = createGrants(), siblingsDone } = parts;
  const { summaries = "off" } = parts;
  const listsPast = summaries !== "off";
  const { highWaterTokens, lowWaterTokens, pastTokens, summaryTimeoutSeconds } = parts;
  const asConfigured = { listsPast, pastTokens, water: { highWaterTokens, lowWaterTokens } };
  const timeoutMs = summaryTimeoutSeconds && summaryTimeoutSeconds * 1000;
  const { onStored, onWindow, onMovedAway, spendings = createSpendings() } = parts;
  const { onApart, onUnusable } = parts;
  const sharing = createSharing(parts.sharedRows, { keeps: stores.keeps, onApart, onUnusable });
  const readings = createReadings();
  const budgets = createAskedBudgets();
  const siblings = createSiblings({
    reader(store, opened) {
      const bring = sharing.beside(store, opened);
      return (session, path) =>
        bring(session, () => readings.during(session, () => importFile(store, { session, path })));
    },
    isKept: stores.keeps,
    done: siblingsDone,
  });
  const refill = createRefill(onMovedAway, siblings.readBeside);
  /** Hosts add to what they pass; only these two name the session. */
  const refOf = ({ sessionId, sessionKey }: SessionRef): OwnedSession => ({
    ...{ sessionId, owner: stores.owner },
    ...(sessionKey !== undefined && { sessionKey }),
  });
  const viewRequest = (params: AssembleParams): ViewRequest => ({
    session: refOf(params),
    messages: tidied(params.messages),
    tokenBudget: params.tokenBudget,
    contextWindow: windowOf(params.runtimeContext),
    tokenRatio: ratioOf(params.runtimeContext),
    ...asConfigured,
  });
  /** Storing what was said in the session, with word of how it went. */
  async function storing<Outcome>(
    session: OwnedSession,
    work: (store: Store) => Promise<Outcome>,
  ): Promise<Outcome | null> {
    try {
      const store = stores.of(session);
      if (store === null) return null;
      const outcome = await work(store);
      onStored?.(session);
      return outcome;
    } catch (error) {
      onStored?.(session, error);
      throw error;
    }
  }
  async function tell(told: Told): Promise<Storing> {
    const messages = tidied(told.messages.filter(isMessage));
    const before = told.before && tidied(told.before.filter(isMessage));
    budgets.told(told.session);
    const stored = await storing(told.session, async (store) => {
      await readings.over(told.session);
      await refill.ifMovedAway(store, told.session);
      await sharing.ready(store, told.session);
      const outcome = await storeTold(store, { ...told, messages, before });
      await sharing.share(store, told.session, { turn: told.advancementKey });
      await asFarAsPossible(() => catchUpAPiece(store));
      return outcome;
    });
    if (stored === null) return NOTHING;
    refuse(stored.refused, told.messages.length - messages.length);
    return stored;
  }

  return {
    info: {
      id: LOSSLESS_ENGINE_ID,
      name: "Lossless",
      ownsCompaction: true,
      turnMaintenanceMode: "background",
      ...(durableTurns && { transcriptSemantics: DURABLE }),
      acceptedHostParams: [
        "sessionKey",
        "prompt",
        "runtimeSettings",
        "sessionTarget",
        "runtimeContext",
        "abortSignal",
      ],
    },

    async bootstrap(params: BootstrapParams): Promise<BootstrapResult> {
      const { sessionFile: path } = params;
      const session = refOf(params);
      if (stores.of(session) === null)
        return { bootstrapped: false, reason: "this session is ignored" };
      if (path === undefined)
        return { bootstrapped: false, reason: "this host keeps no session file to read" };
      const read = await storing(session, async (store) => {
        await sharing.ready(store, session);
        const outcome = await readings.during(session, async () => {
          await asFarAsPossible(() => siblings.readBeside(store, session, path));
          return importFile(store, { session, path });
        });
        if (outcome.reason === undefined) refill.note(store, session, path);
        await sharing.share(store, session);
        return outcome;
      });
      const { imported = 0, reason } = read ?? {};
      return {
        bootstrapped: reason === undefined,
        importedMessages: imported,
        ...(reason !== undefined && { reason }),
      };
    },

    async maintain(params) {
      const session = refOf(params);
      const store = stores.of(session);
      if (store === null) return NOTHING_REWRITTEN;
      const { runtimeContext, abortSignal: signal } = params;
      const { allowDeferredCompactionExecution: isBehindReply, llm } = runtimeContext ?? {};
      // Somebody waits for a reply otherwise, and needs none of it now.
      const boundMs = isBehindReply === true ? undefined : FOREGROUND_MS;
      await catchUpInBackground(store, { boundMs, signal });
      await asFarAsPossible(() => sharing.ready(store, session));
      const share = () => sharing.share(store, session);
      if (listsPast) {
        const mayAsk = summaries === "model" && isBehindReply === true;
        const complete = mayAsk ? llm?.complete : undefined;
        const spending = spendings.of(store, session);
        spending.within(spendingBounds(parts));
        await growSession(store, session, {
          ...{ complete, spending, timeoutMs, boundMs, signal },
          onWords: share,
        });
      }
      await retain(store, parts, { now: Date.now(), boundMs: RETENTION_MS, signal });
      await share();
      return NOTHING_REWRITTEN;
    },

    async ingest(params) {
      const { message, isHeartbeat, ...session } = callOf("ingest", params);
      const { added } = await tell({ session: refOf(session), messages: [message], isHeartbeat });
      return { ingested: added > 0 };
    },

    async ingestBatch(params) {
      const { messages, isHeartbeat, ...session } = callOf("ingestBatch", params);
      const { added } = await tell({ session: refOf(session), messages, isHeartbeat });
      return { ingestedCount: added };
    },

    async afterTurn(params) {
      const { messages, prePromptMessageCount, sessionFile, isHeartbeat, ...session } = callOf(
        "afterTurn",
        params,
      );
      await tell({
        session: refOf(session),
        messages: messages.slice(prePromptMessageCount),
        before: messages.slice(0, prePromptMessageCount),
        ...{ sessionFile, isHeartbeat },
      });
    },

    async commitTurn(params) {
      const { advancementKey, isHeartbeat, ...session } = callOf("commitTurn", params);
      const messages = anchored(params);
      const told = { session: refOf(session), messages, advancementKey, isHeartbeat };
      const { isDuplicate, reusing } = await tell(told);
      refuseReusedKey(advancementKey, reusing);
      return { status: isDuplicate ? "duplicate" : "committed" };
    },

    async assemble(params) {
      const session = refOf(callOf("assemble", params));
      const { tokenBudget } = params;
      const messages = tidied(params.messages);
      const store = stores.of(session);
      if (store === null) return { messages, estimatedTokens: estimateMessages(messages).estimate };
      await readings.over(session);
      await refill.ifMovedAway(store, session);
      await asFarAsPossible(() => sharing.ready(store, session));
      const window = windowOf(params.runtimeContext);
      if (window !== undefined) onWindow?.(session, window);
      await asFarAsPossible(() =>
        readings.during(session, () => storeSeen(store, { session, messages })),
      );
      budgets.asked(session, tokenBudget);
      const view = await viewOf(store, viewRequest({ ...params, messages }));
      // What a model is shown another machine can show, too.
      await sharing.share(store, session, { mayWait: true });
      let isBehind = false;
      if (view.record === null)
        await asFarAsPossible(async () => {
          isBehind = await patiently(() => hasEarlier(store, session, messages));
        });
      const addition = promptAddition(view, params, isBehind);
      return {
        ...assemblyOf(view, { messages, tokenBudget }),
        ...(addition !== undefined && { systemPromptAddition: addition }),
      };
    },

    async explain(params) {
      const store = stores.of(refOf(params));
      if (store === null) return { items: [], hidden: 0 };
      const { items, hidden } = await viewOf(store, viewRequest(params));
      return {
        items: items.map(({ message, why }) => ({
          ...{ id: messageId(message) ?? null, why },
          tokens: estimateMessage(message).estimate,
        })),
        hidden,
      };
    },

    async control({ operation }) {
      if (operation !== "doctor")
        return { ok: false, text: `there is no operation "${operation}"; there is "doctor"` };
      const missing = stores.missing();
      return missing === null
        ? checkStore(stores.ofAgent())
        : { ok: true, text: nothingIn(missing) };
    },

    async storedMessages(params) {
      const session = refOf(params);
      const store = stores.of(session);
      return store === null ? [] : [...(await historyOf(store, { session }))];
    },

    async compact(params: CompactParams) {
      const session = refOf(params);
      const store = stores.of(session);
      if (store === null) return delegateCompactionToRuntime(params);
      const { sessionFile, abortSignal: signal, runtimeContext, force, compactionTarget } = params;
      signal?.throwIfAborted();
      await asFarAsPossible(() => sharing.ready(store, session));
      const compacted = await compactView(store, {
        session,
        messages: await historyOf(store, { session, sessionFile, signal }),
        tokenBudget: params.tokenBudget ?? runtimeContext?.tokenBudget,
        askedBudget: budgets.smallest(session),
        newestBudget: budgets.newest(session),
        ...asConfigured,
        contextWindow: windowOf(runtimeContext),
        isOverflow: force === true && compactionTarget !== "threshold",
        signal,
      });
      await sharing.share(store, session);
      return tellFocus(compacted, params.customInstructions);
    },

    prepareSubagentSpawn(params) {
      const grant = grants.give({ ...params, owner: stores.owner });
      if (grant === null) return undefined;
      return { rollback: () => void grants.revoke(params.childSessionKey, grant) };
    },

    async onSubagentEnded({ childSessionKey: sessionKey, reason }) {
      grants.revoke(sessionKey);
      if (reason === "deleted") await forgetDeleted(stores, { sessionId: "", sessionKey });
    },

    dispose: () => stores.release(),
  };
}

function windowOf(runtimeContext: RuntimeContext | undefined): number | undefined {
  const window: unknown = runtimeContext?.modelContextWindow;
  return typeof window === "number" && window > 0 ? window : undefined;
}

function ratioOf(runtimeContext: RuntimeContext | undefined): number | undefined {
  const ratio: unknown = runtimeContext?.tokenRatio;
  return typeof ratio === "number" && ratio > 1 && ratio < Infinity ? ratio : undefined;
}

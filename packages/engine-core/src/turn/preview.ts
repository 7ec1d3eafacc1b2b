// What the next model call would send, found out without sending or storing anything.
import { type ContextSize, pause } from "@clew/plugin-sdk/host";
import { estimateMessage } from "@clew/plugin-sdk/tokens";
import {
  type NewTranscriptEntry,
  placeEntry,
  type TranscriptEntry,
} from "@clew/plugin-sdk/transcript";
import { assertHostSupport, hostOf } from "../engine/host-support.ts";
import { FALLBACK_ENGINE_ID } from "../engine/registry.ts";
import type { CompactionPort, IdPort } from "../ports.ts";
import type { ReportParts } from "../report/item.ts";
import type { ModelCallReport } from "../report/model-call.ts";
import type { TurnReport } from "../report/turn-report.ts";
import { partOfBranch } from "../session/branch-part.ts";
import { withSession } from "../session/session-lock.ts";
import { createSessionState, readBranch, type SessionState } from "../session/session-state.ts";
import type { TranscriptPort } from "../transcript-port.ts";
import type { Ask } from "./effects.ts";
import { openTurn } from "./open-turn.ts";
import { planTurn } from "./order.ts";
import { prepareRequest } from "./perform/model.ts";
import { reportOf } from "./report-of.ts";
import { runEffects } from "./run-effects.ts";
import { compactsAboveMark } from "./tasks/auto-compact.ts";
import { newTurn, type Turn } from "./turn.ts";
import type { TurnRequest } from "./turn-request.ts";

/** A turn's request without the message that is still to be written. */
export type PreviewRequest = Omit<
  TurnRequest,
  "prompt" | "beforePromptBuild" | "kind" | "onEvent" | "onStep"
>;

/** What a turn does to a request that is too large, before or after it asks the model. */
export interface PreviewedStep {
  /** "before": the request does not fit · "after": it is above the high mark. */
  when: "before" | "after";
  /** Who compacts; "cut": old tool results are shortened instead. */
  by: "engine" | "host" | "cut";
}

/** The next model call, found out without making it. */
export interface RequestPreview {
  /**
   * What would be sent, all of it, with the stand-in for the person's next message last; null when
   * it would not be sent as it is.
   */
  call: ModelCallReport | null;
  /** How large it is, as every decision sees it; null = the turn ended before that was known. */
  size: ContextSize | null;
  /** Of `size.tokens`: the stand-in for the person's next message. */
  nextMessageTokens: number;
  /** True: it does not fit, so it would not be sent as it is. */
  heldBack: boolean;
  /** How the turn would make it smaller; null = it would not. Nothing of it was done. */
  shrinks: PreviewedStep | null;
  /** Entry id by which `call` names the stand-in. */
  promptEntryId: string;
  /** Engine, budget and engine calls, as in the report of a turn. */
  report: TurnReport;
  /** Contents that `call` names by hash. */
  parts: ReportParts;
}

/**
 * Stands for the message that is not written yet; some providers end a history only
 * with a person's message.
 */
const NEXT_MESSAGE = { content: "(your next message)", timestamp: 0, idempotencyKey: "preview" };
const PROMPT_ENTRY_ID = "next-message";
/** What asks a model, or makes the context smaller; hooks are told before a compaction. */
const STOP_BEFORE: ReadonlySet<Ask["do"]> = new Set<Ask["do"]>([
  "call-model",
  "begin-execution",
  "tell-before",
  "cut-results",
]);
const NOTHING_CHANGES = "a preview changes nothing";

/**
 * Runs bootstrap, history, assembly and policy as `runTurn` would, up to where the turn would ask
 * a model or make the context smaller: it asks no model and appends nothing. The engine is asked
 * for its choice, as for a turn, without a model to ask; what hooks would add to the next message
 * is not known. Waits for a turn of the same session that runs. Throws
 * HOST_CAPABILITY_MISSING, SESSION_LOCKED, aborts, and in `strict` mode what the engine throws.
 */
export async function previewRequest(request: PreviewRequest): Promise<RequestPreview> {
  const { guard } = request.engine;
  if (request.engine.refused !== undefined) throw request.engine.refused;
  if (guard.engineId !== FALLBACK_ENGINE_ID)
    assertHostSupport(guard.info(), "agent-run", hostOf(request.ports));
  const { sessionKey } = request.ports.transcript.session;
  return withSession(request.state.lock, { whenBusy: request.whenBusy, sessionKey }, () =>
    previewNow(request),
  );
}

async function previewNow(request: PreviewRequest): Promise<RequestPreview> {
  const { ports, state } = request;
  await readBranch(state, ports.transcript);
  const { branch } = state;
  const imagined: TurnRequest = {
    ...request,
    prompt: NEXT_MESSAGE,
    ports: {
      ...ports,
      transcript: imaginedTranscript(ports.transcript, branch, ports.ids),
      // An engine may leave its own compaction to the host while it chooses.
      ...(ports.compaction !== undefined && { compaction: NO_COMPACTION }),
    },
    state: imaginedState(state),
    // Nothing happens that anybody should be told of.
    onEvent: () => {},
  };
  const { setup, signal, open } = openTurn(imagined, "preview");
  signal.throwIfAborted();
  const opened = newTurn(setup, planTurn(setup));
  const { turn, facts, stoppedBefore } = await runEffects(opened, open, {
    signal,
    stopBefore: STOP_BEFORE,
  });
  signal.throwIfAborted();
  await pause();
  const described = await describeCall(imagined, turn);
  return {
    call: described?.call ?? null,
    size: turn.composed.size,
    nextMessageTokens: standInTokens(turn),
    heldBack: turn.failure?.heldBack === true,
    shrinks: shrinkingOf(turn, stoppedBefore),
    promptEntryId: turn.prompt?.entryId ?? PROMPT_ENTRY_ID,
    report: reportOf(turn, facts),
    parts: described?.parts ?? {},
  };
}

/** As the model counts. */
function standInTokens({ composed, setup }: Turn): number {
  const last = composed.items.at(-1)?.message;
  if (last?.role !== "user") return 0;
  const { estimatedTokens } = composed;
  const { tokenRatio } = setup.settings;
  // What remains is as large as if it had never been there, to the token.
  const before = Math.max(0, estimatedTokens - estimateMessage(last).estimate);
  return Math.ceil(tokenRatio * estimatedTokens) - Math.ceil(tokenRatio * before);
}

function shrinkingOf(turn: Turn, stoppedBefore: Ask | null): PreviewedStep | null {
  if (stoppedBefore?.do === "cut-results") return { when: "before", by: "cut" };
  if (stoppedBefore?.do === "tell-before" && turn.compaction !== null) {
    const { by } = turn.compaction;
    const isHost = by === "built-in" || turn.setup.engine.id === FALLBACK_ENGINE_ID;
    return { when: "before", by: isHost ? "host" : "engine" };
  }
  const isFull = turn.composed.size?.verdict === "full";
  return isFull && compactsAboveMark(turn) ? { when: "after", by: "host" } : null;
}

/** The call as it would be reported; null when it would not be made. */
async function describeCall(
  { ports, state }: TurnRequest,
  turn: Turn,
): Promise<{ call: ModelCallReport; parts: ReportParts } | null> {
  if (turn.failure !== null || turn.error !== null) return null;
  const { setup, composed, assembly, remedies } = turn;
  const prepared = await prepareRequest(
    { ports, state, setup },
    {
      items: composed.items,
      system: assembly?.system ?? setup.systemPrompt,
      tools: setup.tools,
      remedies,
    },
  );
  const { parts, requestHash, system, tools, messages } = prepared.described;
  return {
    parts,
    call: {
      index: 0,
      durationMs: 0,
      retries: 0,
      system,
      tools,
      messages,
      requestHash,
      policyChanges: [...prepared.policyChanges],
      usage: null,
      stopReason: null,
      error: null,
    },
  };
}

const NO_COMPACTION: CompactionPort = {
  compact: async () => ({ ok: true, compacted: false, reason: NOTHING_CHANGES }),
};

/**
 * What was measured and what the history amounts to counts; memories of requests start empty, so
 * that the session's own stay as they are.
 */
function imaginedState(state: SessionState): SessionState {
  const { branch, measurement, lastUsage, request, table, maintenance, firstLooks } = state;
  const { context, holdsRuntimeContext, holdsHeartbeats, callCount } = state;
  const fresh = createSessionState();
  return {
    ...fresh,
    ...{ branch, measurement, lastUsage, table, maintenance },
    ...{ context, holdsRuntimeContext, holdsHeartbeats, callCount },
    // These grow with the stand-in for the next message.
    items: [...state.items],
    messages: [...state.messages],
    // A preview lets the engine bootstrap, too.
    firstLooks,
    // What a message's hash is does not depend on who asks.
    request: { ...fresh.request, hashes: request.hashes },
  };
}

function imaginedTranscript(
  real: TranscriptPort,
  stored: readonly TranscriptEntry[],
  ids: IdPort,
): TranscriptPort {
  let branch = stored;
  const place = (entry: NewTranscriptEntry): TranscriptEntry =>
    placeEntry(entry, {
      id: entry.type === "message" ? PROMPT_ENTRY_ID : `preview-${ids.next()}`,
      parentId: branch.at(-1)?.id ?? null,
      timestamp: new Date(0).toISOString(),
    });
  return {
    session: real.session,
    exists: () => real.exists(),
    read: async (part) => partOfBranch(branch, part),
    append: async (added) => {
      const entries = added.map(place);
      branch = [...branch, ...entries];
      return entries;
    },
    rewrite: async () => ({
      changed: false,
      bytesFreed: 0,
      rewrittenEntries: 0,
      reason: NOTHING_CHANGES,
    }),
    ...(real.deliveries !== undefined && {
      deliveries: { ...real.deliveries, save: async () => {} },
    }),
  };
}

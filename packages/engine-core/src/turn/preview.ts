// What the next model call would send, found out without sending or storing anything.
import type { ModelError } from "@clew/plugin-sdk/host";
import {
  type NewTranscriptEntry,
  placeEntry,
  type TranscriptEntry,
} from "@clew/plugin-sdk/transcript";
import { assertHostSupport, CLEW_EMBEDDED_HOST } from "../engine/host-support.ts";
import { describeError } from "../engine/quarantine.ts";
import { FALLBACK_ENGINE_ID } from "../engine/registry.ts";
import type { IdPort, ModelPort, TranscriptPort } from "../ports.ts";
import type { ModelCallReport, ReportParts, TurnReport } from "../report.ts";
import type { Precheck } from "../request/precheck.ts";
import { settleMaintenance } from "../session/maintenance-lane.ts";
import { createSessionState, type SessionState } from "../session/session-state.ts";
import { assembleContext } from "./assembly.ts";
import { hostParams } from "./engine-params.ts";
import { readHistory, storeSideRecords } from "./history.ts";
import { runModelLoop } from "./model-loop.ts";
import { admitPrompt } from "./prompt.ts";
import type { TurnRequest } from "./turn-request.ts";
import { openTurn, type TurnRun } from "./turn-run.ts";

/** A turn's request without the message that is still to be written. */
export type PreviewRequest = Omit<TurnRequest, "prompt" | "beforePromptBuild" | "kind" | "onEvent">;

/** The next model call, found out without making it. */
export interface RequestPreview {
  /**
   * What would be sent, all of it, with the stand-in for the person's next message last; null when
   * it would not be sent as it is.
   */
  call: ModelCallReport | null;
  /** Why it would not be sent: the sizes that do not fit. The turn would compact or cut first. */
  heldBack: Precheck | null;
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

/**
 * Runs bootstrap, history, assembly and policy as `runTurn` would, asks no model and appends
 * nothing. The engine is asked for its choice, as for a turn; what hooks would add to the next
 * message is not known. The host must not call it while a turn of the same session runs. Throws
 * HOST_CAPABILITY_MISSING, aborts, and in `strict` mode what the engine throws.
 */
export async function previewRequest(request: PreviewRequest): Promise<RequestPreview> {
  const { guard } = request.engine;
  if (guard.engineId !== FALLBACK_ENGINE_ID)
    assertHostSupport(guard.info(), "agent-run", CLEW_EMBEDDED_HOST);
  const { ports, state } = request;
  await settleMaintenance(
    state.maintenance,
    request.settings?.maintenanceWaitMs ?? 0,
    request.signal,
  );
  const run = openTurn({
    ...request,
    prompt: NEXT_MESSAGE,
    ports: {
      ...ports,
      transcript: imaginedTranscript(ports.transcript, ports.ids),
      model: silentModel,
    },
    state: imaginedState(state),
    // Nothing happens that anybody should be told of.
    onEvent: () => {},
  });
  run.signal.throwIfAborted();
  await bootstrap(run);
  const history = await readHistory(run);
  await storeSideRecords(run, history);
  const assembly = await assembleContext(run, history);
  const prompt = await admitPrompt(run, assembly);
  const outcome = await runModelLoop(run, assembly, prompt);
  const { report, parts } = run;
  return {
    call: report.modelCalls[0] ?? null,
    heldBack: (outcome.kind === "failed" && outcome.precheck) || null,
    promptEntryId: report.promptEntryId ?? PROMPT_ENTRY_ID,
    report,
    parts,
  };
}

/**
 * An engine that was not told of the session yet would choose from less; telling it twice changes
 * nothing (contract §3.1).
 */
async function bootstrap(run: TurnRun): Promise<void> {
  if (!run.hadSessionFile || typeof run.engine.bootstrap !== "function") return;
  try {
    await run.engine.bootstrap({
      ...hostParams(run, "before-turn", undefined),
      sessionFile: run.session.sessionFile,
    });
  } catch (error) {
    run.signal.throwIfAborted();
    run.ports.log.warn(`context engine bootstrap failed: ${describeError(error)}`);
  }
}

/**
 * What was measured counts; memories of requests start empty, so that the
 * session's own stay as they are.
 */
function imaginedState({ measurement, lastUsage, request }: SessionState): SessionState {
  const fresh = createSessionState();
  return {
    ...fresh,
    measurement,
    lastUsage,
    // What a message's hash is does not depend on who asks.
    request: { ...fresh.request, hashes: request.hashes },
  };
}

function imaginedTranscript(real: TranscriptPort, ids: IdPort): TranscriptPort {
  let branch = real.branch();
  const place = (entry: NewTranscriptEntry): TranscriptEntry =>
    placeEntry(entry, {
      id: entry.type === "message" ? PROMPT_ENTRY_ID : `preview-${ids.next()}`,
      parentId: branch.at(-1)?.id ?? null,
      timestamp: new Date(0).toISOString(),
    });
  return {
    session: real.session,
    exists: () => real.exists(),
    branch: () => branch,
    append: async (added) => {
      const entries = added.map(place);
      branch = [...branch, ...entries];
      return entries;
    },
    rewrite: async () => ({
      changed: false,
      bytesFreed: 0,
      rewrittenEntries: 0,
      reason: "a preview changes nothing",
    }),
    ...(real.outbox !== undefined && {
      outbox: { cursor: (engineId) => real.outbox?.cursor(engineId), save: async () => {} },
    }),
  };
}

const error: ModelError = { kind: "unavailable", message: "A preview asks no model." };
const silentModel: ModelPort = {
  async *stream() {
    yield {
      type: "error",
      error,
      partial: { role: "assistant", content: [], stopReason: "error", errorMessage: error.message },
    };
  },
  complete: async () => ({
    ok: false,
    error,
    partial: { role: "assistant", content: [], stopReason: "error", errorMessage: error.message },
  }),
};

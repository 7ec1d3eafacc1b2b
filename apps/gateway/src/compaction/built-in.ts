// The host's built-in compaction for one session.
import type { ClockPort, CompactionPort, LogPort, ModelPort } from "@clew/engine-core";
import {
  type CompactionOptions,
  type CompactionPreview,
  type CompactTranscriptRequest,
  compactTranscript,
  previewCompaction,
  type SummariserRest,
} from "@clew/legacy-engine";
import type { CompactionAsk, ModelCall, ModelRef } from "@clew/plugin-sdk/host";
import type { CompactableSession } from "../sessions/open.ts";

export interface BuiltInCompactionOptions {
  /** The session's transcript now: it may move to a successor while a turn runs. */
  transcript: () => CompactableSession;
  model: ModelPort;
  /** Answers in the session. */
  sessionModel: ModelRef;
  /** Summarises, if `asksForProse`; its window counts in any case. */
  summaryModel: ModelRef;
  /** False: what is left out becomes a record made by code, and no model is asked. */
  asksForProse: boolean;
  options: CompactionOptions;
  /** Estimated tokens of system prompt and tool schemas: what no compaction can shrink. */
  fixedTokens: () => number;
  /** Counted / estimated tokens of the session's model. */
  tokenRatio: number;
  /** The tool that shows a message by its id; undefined = it is switched off. */
  reader: string | undefined;
  /** Which models were away when they were last asked to summarise. */
  rest: SummariserRest;
  clock: ClockPort;
}

export interface BuiltInCompaction extends CompactionPort {
  /** What `/compact` would do; asks no model and writes nothing. */
  preview(ask: Pick<CompactionAsk, "focus" | "currentTokenCount">): Promise<CompactionPreview>;
}

export function createBuiltInCompaction(given: BuiltInCompactionOptions): BuiltInCompaction {
  const { model, sessionModel, summaryModel, asksForProse, options, fixedTokens, clock } = given;
  const request = (): Omit<CompactTranscriptRequest, "trigger"> => ({
    transcript: given.transcript().compaction,
    model: {
      ref: summaryModel,
      ...(asksForProse && { complete: (call: ModelCall) => model.complete(call) }),
    },
    session: {
      contextWindow: sessionModel.contextWindow,
      maxOutputTokens: sessionModel.maxOutputTokens,
    },
    options,
    fixedTokens: fixedTokens(),
    tokenRatio: given.tokenRatio,
    ...{ rest: given.rest, reader: given.reader },
    now: () => clock.now(),
  });
  return {
    compact: (ask, options) => compactTranscript({ ...request(), ...ask, ...options }),
    preview: (ask) => previewCompaction({ ...request(), ...ask, trigger: "manual" }),
  };
}

/** The configured summariser, or the session's own model when that name means nothing. */
export function chooseSummaryModel(request: {
  configured: string | undefined;
  sessionModel: ModelRef;
  model: ModelPort;
  log: LogPort;
}): ModelRef {
  const { configured, sessionModel, model, log } = request;
  if (configured === undefined) return sessionModel;
  const found = model.resolve?.(configured);
  if (found === undefined)
    log.warn(
      `agents.defaults.compaction.model names "${configured}", which cannot be used; ${sessionModel.id} summarises instead`,
    );
  return found ?? sessionModel;
}

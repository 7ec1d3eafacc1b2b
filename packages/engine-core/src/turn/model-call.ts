// Makes one model call and reports what was sent, item by item.
import type { AgentMessage, AssistantMessage } from "@clew/plugin-sdk/core";
import type { ModelCall, ModelError, StreamEvent, ToolDefinition } from "@clew/plugin-sdk/host";
import type { ItemCode, ModelCallReport } from "../report.ts";
import {
  advanceRequest,
  type RequestDescription,
  type SystemPart,
} from "../request/request-items.ts";
import { measure } from "../request/request-size.ts";
import type { TurnRun } from "./turn-run.ts";

export interface ModelView {
  system: readonly SystemPart[];
  tools: readonly ToolDefinition[];
  /** Chosen history first, then the running turn. */
  messages: readonly AgentMessage[];
  /**
   * Entry of a message that is a changed copy of a stored one: the prompt with what hooks added.
   */
  promptView: AgentMessage;
  /** The running turn as stored. */
  turn: readonly AgentMessage[];
}

export type ModelOutcome =
  | { ok: true; message: AssistantMessage }
  | { ok: false; error: ModelError; partial: AssistantMessage };

export async function callModel(run: TurnRun, view: ModelView): Promise<ModelOutcome> {
  const { ports, model, state, signal, report } = run;
  const prepared = ports.policy?.prepareOutbound({ messages: view.messages, model });
  const messages = prepared?.messages ?? view.messages;
  const described = advanceRequest({
    model: report.model.resolved,
    system: view.system,
    tools: view.tools,
    messages,
    sourceOf: (message) => sourceOf(run, view, message),
    hash: (text) => ports.ids.hash(text),
    prefixOf: state.prefixOf,
    memory: state.request,
  });
  if (described.requestHash === run.refusedRequest) return sameAgain();
  Object.assign(run.parts, described.parts);

  const started = ports.clock.monotonic();
  let retries = 0;
  const outcome = await stream(run, view, messages, ({ error, delayMs }) => {
    retries++;
    run.emit({
      type: "notice",
      text: `${error.message} Trying again in ${Math.ceil(delayMs / 1000)} s.`,
    });
  });
  const durationMs = ports.clock.monotonic() - started;
  run.waitedMs += durationMs;
  report.modelCalls.push({
    ...callReport(described, outcome),
    retries,
    index: state.modelCalls++,
    durationMs,
    policyChanges: [...(prepared?.changes ?? [])],
  });
  if (outcome.ok) {
    state.lastUsage = outcome.message.usage ?? state.lastUsage;
    state.measurement = measure(view.messages, outcome.message, outcome.message.usage);
  } else if (outcome.error.kind === "overflow") run.refusedRequest = described.requestHash;
  return signal.aborted && !outcome.ok
    ? { ...outcome, error: { kind: "aborted", message: "The run was cancelled." } }
    : outcome;
}

/** The provider has refused exactly this request: sending it again would only cost. */
function sameAgain(): ModelOutcome {
  const error: ModelError = {
    kind: "overflow",
    message:
      "The request is the one the provider already refused as too large; it was not sent again.",
  };
  return {
    ok: false,
    error,
    partial: { role: "assistant", content: [], stopReason: "error", errorMessage: error.message },
  };
}

async function stream(
  run: TurnRun,
  view: ModelView,
  messages: readonly AgentMessage[],
  onRetry: NonNullable<ModelCall["onRetry"]>,
): Promise<ModelOutcome> {
  const { ports, model, signal, session } = run;
  const call = {
    model,
    systemPrompt: view.system.map((part) => part.text).join("\n\n"),
    messages,
    tools: view.tools,
    signal,
    sessionId: session.sessionId,
    onRetry,
  };
  for await (const event of ports.model.stream(call)) {
    if (event.type === "done") return { ok: true, message: stamped(run, event.message) };
    if (event.type === "error") return { ok: false, error: event.error, partial: event.partial };
    emitDelta(run, event);
  }
  const error: ModelError = {
    kind: "invalid_response",
    message: "The model's stream ended without a final event.",
  };
  return {
    ok: false,
    error,
    partial: { role: "assistant", content: [], stopReason: "error", errorMessage: error.message },
  };
}

/** Every stored reply says when it was made and in which run, so that engines can recognise it. */
function stamped({ ports, report }: TurnRun, message: AssistantMessage): AssistantMessage {
  return {
    timestamp: ports.clock.now(),
    ...message,
    __openclaw: { runId: report.turnId, ...message.__openclaw },
  };
}

function emitDelta(run: TurnRun, event: Exclude<StreamEvent, { type: "done" | "error" }>): void {
  if (event.type !== "tool_call") run.emit(event);
}

function callReport(
  described: RequestDescription,
  outcome: ModelOutcome,
): Omit<ModelCallReport, "index" | "durationMs" | "policyChanges" | "retries"> {
  const { system, tools, messages, requestHash } = described;
  return outcome.ok
    ? {
        system,
        tools,
        messages,
        requestHash,
        usage: outcome.message.usage ?? null,
        stopReason: outcome.message.stopReason,
        error: null,
      }
    : {
        system,
        tools,
        messages,
        requestHash,
        usage: outcome.partial.usage ?? null,
        stopReason: null,
        error: outcome.error.message,
      };
}

function sourceOf(
  run: TurnRun,
  view: ModelView,
  message: AgentMessage,
): ReturnType<Parameters<typeof advanceRequest>[0]["sourceOf"]> {
  const { state, report } = run;
  const { promptEntryId } = report;
  const entryId = state.entryIds.get(message);
  if (entryId !== undefined)
    return {
      source: { kind: "entry", entryId },
      ...(entryId === promptEntryId ? said("prompt") : said("history")),
    };
  if (message === view.promptView && promptEntryId !== null)
    return {
      source: { kind: "entry", entryId: promptEntryId },
      ...said("prompt", "prompt, with what hooks added"),
      changed: true,
    };
  const original = findOriginal(run, message);
  if (original !== undefined)
    return {
      source: { kind: "entry", entryId: original },
      ...said("history", "history, shortened or changed for the provider"),
      changed: true,
    };
  return { source: { kind: "engine" }, ...said("engine", "made by the engine") };
}

const said = (code: ItemCode, reason: string = code) => ({ code, reason });

/**
 * The stored message a changed copy comes from: same role, time and tool call. Searched from
 * the end; copies are rare.
 */
function findOriginal({ state }: TurnRun, message: AgentMessage): string | undefined {
  if (message.timestamp === undefined) return undefined;
  const sameEvent = (other: AgentMessage) =>
    other.role === message.role &&
    other.timestamp === message.timestamp &&
    (other.role !== "toolResult" ||
      message.role !== "toolResult" ||
      other.toolName === message.toolName);
  return state.context?.items.findLast((item) => sameEvent(item.message))?.entryId;
}

// What the model saw in a session's last call, item by item.
import type { ModelCallReport, ReportItem, TurnReport } from "@clew/engine-core";
import { type PolicyChange, promptTokensOf, type WaterMarks } from "@clew/plugin-sdk/host";
import { buildContext, type TranscriptEntry } from "@clew/plugin-sdk/transcript";
import type { LastRequest } from "./expand.ts";
import { HELD } from "./held.ts";
import { messageInPart, messageText } from "./message-text.ts";
import { readLastRequest, readPart } from "./report-log.ts";
import { saidChanges } from "./said-changes.ts";
import { shareOut } from "./share-out.ts";

/** Characters of an item shown in the list; the whole is asked for one by one. */
const PREVIEW_CHARS = 280;

export interface ContextViewItem extends ReportItem {
  /** Beginning of the text. */
  preview: string;
  /** Characters of the whole text. */
  chars: number;
}

export interface ContextView {
  turnId: string;
  /** ISO 8601. */
  startedAt: string;
  outcome: TurnReport["outcome"];
  model: TurnReport["model"];
  engine: TurnReport["engine"];
  /** Tokens; null when the turn ended before assembly. */
  budget: TurnReport["budget"];
  call: Pick<
    ModelCallReport,
    | "index"
    | "durationMs"
    | "usage"
    | "stopReason"
    | "error"
    | "requestHash"
    | "retries"
    | "remedies"
    | "cache"
    | "providerChanges"
    | "leftOut"
    | "engine"
    | "harness"
    | "held"
  >;
  /** The whole turn the call belongs to; `modelCalls` counts its calls. */
  turn: Pick<
    TurnReport,
    | "durationMs"
    | "hostMs"
    | "reason"
    | "engineCalls"
    | "toolCalls"
    | "compactions"
    | "recoveries"
    | "historyChanges"
    | "cut"
    | "deliveries"
    | "memory"
    | "refusals"
    | "toolServers"
    | "views"
    | "execution"
    | "notices"
  > & {
    modelCalls: number;
  };
  /** Tokens of the request, as the provider counted it where it did, and when the host compacts. */
  size: { tokens: number; source: "counted" | "estimated"; water: WaterMarks | null };
  /**
   * What of `size` each takes; items have their part of it. `program`: what a program that made the
   * request added of its own, which is not listed.
   */
  tokens: { system: number; tools: number; messages: number; program: number; total: number };
  system: ContextViewItem[];
  tools: ContextViewItem[];
  messages: ContextViewItem[];
  /** Of what is sent, as those of `turn.historyChanges` are. */
  policyChanges: PolicyChange[];
}

interface Source {
  sessionId: string;
  branch: readonly TranscriptEntry[];
}

/** `folder` is the agent's reports folder. */
export async function describeContext(
  folder: string,
  source: Source,
  last: LastRequest,
): Promise<ContextView> {
  const { report, call } = last;
  const messages = last.messages.map((item, index) => {
    const told = withCurrentReason(item, report.promptEntryId);
    return index < (call.held ?? 0) ? { ...told, reason: `${told.reason}${HELD}` } : told;
  });
  const contents = contentReader(folder, source);
  const view = async (items: readonly ReportItem[]) =>
    Promise.all(items.map(async (item) => withPreview(item, await contents(item))));
  const sum = (items: readonly ReportItem[]) =>
    items.reduce((total, { tokens }) => total + tokens, 0);
  const listed = [...call.system, ...call.tools, ...messages];
  const size = sizeOf(call, sum(listed));
  // What a program adds to its request is not listed.
  const program = call.harness === undefined ? 0 : Math.max(0, size.tokens - sum(listed));
  // In the scale of the whole, so that what is listed adds up to it.
  const shares = shareOut(size.tokens - program, sum(listed))(listed);
  const tools = call.system.length + call.tools.length;
  const parts = {
    system: shares.slice(0, call.system.length),
    tools: shares.slice(call.system.length, tools),
    messages: shares.slice(tools),
  };
  const tokens = {
    system: sum(parts.system),
    tools: sum(parts.tools),
    messages: sum(parts.messages),
    program,
  };
  const total = tokens.system + tokens.tools + tokens.messages + program;
  const { index, durationMs, usage, stopReason, error, requestHash, retries, policyChanges } = call;
  const { turnId, startedAt, outcome, model, engine, budget } = report;
  const { hostMs, reason, engineCalls, toolCalls, compactions, historyChanges } = report;
  const { cut, deliveries, views, memory, refusals, toolServers } = report;
  return {
    turnId,
    startedAt,
    outcome,
    model,
    engine,
    budget,
    call: {
      ...{ index, durationMs, usage, stopReason, error, requestHash, retries },
      ...(call.remedies !== undefined && { remedies: call.remedies }),
      ...(call.cache !== undefined && { cache: call.cache }),
      ...(call.providerChanges !== undefined && { providerChanges: call.providerChanges }),
      ...(call.engine !== undefined && { engine: call.engine }),
      ...(call.leftOut !== undefined && { leftOut: call.leftOut }),
      ...(call.harness !== undefined && { harness: call.harness }),
      ...(call.held !== undefined && { held: call.held }),
    },
    turn: {
      durationMs: report.durationMs,
      hostMs,
      reason,
      engineCalls,
      toolCalls,
      compactions,
      historyChanges: saidChanges(historyChanges),
      ...(report.recoveries !== undefined && { recoveries: report.recoveries }),
      ...(cut !== undefined && { cut }),
      ...(deliveries !== undefined && { deliveries }),
      ...(views !== undefined && { views }),
      ...(report.execution !== undefined && { execution: report.execution }),
      ...(report.notices !== undefined && { notices: report.notices }),
      ...(memory !== undefined && { memory }),
      ...(refusals !== undefined && { refusals }),
      ...(toolServers !== undefined && { toolServers }),
      modelCalls: report.modelCalls.length,
    },
    size,
    tokens: { ...tokens, total },
    system: await view(parts.system),
    tools: await view(parts.tools),
    messages: await view(parts.messages),
    policyChanges: saidChanges(policyChanges),
  };
}

function sizeOf({ usage, size }: ModelCallReport, estimated: number): ContextView["size"] {
  const counted = usage === null ? 0 : promptTokensOf(usage);
  return {
    tokens: counted > 0 ? counted : (size?.tokens ?? estimated),
    source: counted > 0 ? "counted" : "estimated",
    water: size?.water ?? null,
  };
}

/** The whole text of one item, or null. */
export async function readContextItem(
  folder: string,
  source: Source,
  part: "system" | "tools" | "messages",
  index: number,
): Promise<string | null> {
  const last = await readLastRequest(folder, source.sessionId);
  const items = last === null ? [] : part === "messages" ? last.messages : last.call[part];
  const item = items[index];
  return item === undefined ? null : contentReader(folder, source)(item);
}

/**
 * A stored message comes from the transcript; everything else, and changed copies,
 * from the report's parts.
 */
function contentReader(folder: string, { branch }: Source): (item: ReportItem) => Promise<string> {
  const messages = new Map(
    buildContext(branch).items.map(({ entryId, message }) => [entryId, message]),
  );
  return async (item) => {
    const stored =
      item.source.kind === "entry" && (item.changed !== true || item.callIds !== undefined)
        ? messages.get(item.source.entryId)
        : undefined;
    if (stored !== undefined) return messageText(stored);
    const part = await readPart(folder, item.hash);
    if (part === null) return "(no longer stored)";
    return item.source.kind === "system" || item.source.kind === "tool-schema"
      ? part
      : partText(part);
  };
}

/** Parts of messages are JSON; what is not one is shown as it is. */
function partText(part: string): string {
  const message = messageInPart(part);
  return message === undefined ? part : messageText(message);
}

/** Kept items say why they were first sent: the prompt of an earlier turn is history by now. */
function withCurrentReason(item: ReportItem, promptEntryId: string | null): ReportItem {
  if (
    item.code !== "prompt" ||
    (item.source.kind === "entry" && item.source.entryId === promptEntryId)
  )
    return item;
  const reason = item.changed ? "history, with what hooks added" : "history";
  return { ...item, code: "history", reason };
}

function withPreview(item: ReportItem, text: string): ContextViewItem {
  return { ...item, preview: text.slice(0, PREVIEW_CHARS), chars: text.length };
}

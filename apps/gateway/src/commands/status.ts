// The command `/status`, which says who answers and how full the context is.
import type { EngineFailure, TurnReport } from "@clew/engine-core";
import {
  type ContextSize,
  type ContextSizeInput,
  countCalls,
  growthPerCall,
  type MessageTokens,
  type ModelRef,
  messageTokenSteps,
  newestTokensOf,
  planContextSize,
  promptTokensOf,
  type SizedMessage,
  type Steps,
} from "@clew/plugin-sdk/host";
import type { TranscriptContext } from "@clew/plugin-sdk/transcript";
import { type Approval, describeSession } from "../approvals/approval.ts";
import { compactionsOf, type HostCompaction } from "../compaction/of-branch.ts";
import { describeCosts } from "../costs/describe.ts";
import type { CapState } from "../costs/plan-caps.ts";
import type { SessionSpent } from "../costs/totals.ts";
import type { HarnessFacts } from "../harness/harness.ts";
import { engineOf } from "../inspect/placed-call.ts";
import { describeShadow } from "../lab/describe-shadow.ts";
import type { ShadowSummary } from "../lab/shadow-lines.ts";
import type { PassedOver } from "../models/agent-models.ts";
import type { AskSettings } from "../models/call-ask.ts";
import { describeRest, timeOf, WHAT_HAPPENED } from "../models/describe-rest.ts";
import type { LearnedWindow } from "../models/model-windows.ts";
import type { Rest } from "../models/plan-rest.ts";
import type { TurnCache } from "../models/turn-cache.ts";
import { type ChosenBy, describeChooser } from "../plugins/engines/engine-choice.ts";
import type { EngineCompactions } from "../plugins/engines/recent-turns.ts";
import type { SafeModePlugin } from "../plugins/load/record.ts";
import type { LastRequest } from "../reports/expand.ts";
import { countOf, type RequestCount } from "../reports/request-count.ts";
import { counted, number } from "../text/number.ts";
import { visible, visibleJson } from "../text/visible.ts";
import { cacheLine } from "./context.ts";

export interface StatusFacts {
  key: string;
  /** What waits for a person's answer, in sessions that it started, too. */
  approvals: readonly Approval[];
  /** Plugins that are off because they blocked the gateway, and why. */
  safeMode: readonly SafeModePlugin[];
  /** Who answers now. */
  model: ModelRef;
  /** How the model failed lately, where it is asked all the same; null = it did not. */
  rest: Rest | null;
  /** The model of the session or the settings, and why it does not answer; null = it does. */
  resting: (Rest & { model: string }) | null;
  /** The model of the settings, where its key is missing; null = it is not. */
  passedOver: PassedOver | null;
  /** Who answers where it cannot, in order. */
  fallbacks: readonly string[];
  /** What calls ask of it, and which setting decided that. */
  asks: AskSettings;
  /** What the last call was not sent although it was asked, and why. */
  leftOut: readonly string[];
  /** What the session cost until now, and the caps that are set for it. */
  cost: { spent: SessionSpent; caps: readonly CapState[] };
  /** What the last call read from the provider's cache, and should have; null = not known. */
  cache: TurnCache | null;
  /** What its provider said that it holds; null = nothing that was news. */
  learnedWindow: LearnedWindow | null;
  engine: {
    agentId: string;
    configured: string | null;
    chosenBy: ChosenBy;
    engineId: string;
    switchedOff: string | null;
    degraded: EngineFailure | null;
    ownsCompaction: boolean;
    /** False: the host compacts only after an overflow, and when somebody asks. */
    autoCompaction: boolean;
  };
  /** The program that runs the session's turns; null = the gateway itself. */
  harness: HarnessFacts | null;
  lifecycle: TurnReport["lifecycle"];
  /** A second engine that is compared with it; null = there is none, or nothing to tell yet. */
  shadow: ShadowSummary | null;
  context: ContextSize & {
    /** Of the next request, as far as it is known: what was chosen last, and what came since. */
    messageCount: number;
    /**
     * Tokens the provider counted for the prompt of the last call; null = it did
     * not say, or there was none.
     */
    measured: number | null;
  };
  compactions: {
    count: number;
    last: HostCompaction | null;
    /** Those of an engine that compacts for itself; null = the host compacts. */
    engine: EngineShare | null;
    /** What the last turn shortened because no compaction helped; null = nothing. */
    cut: NonNullable<TurnReport["cut"]> | null;
  };
}

export interface EngineShare extends EngineCompactions {
  /** Messages of the last request that it wrote. */
  written: number;
  /** Messages of the history that the last request went without. */
  leftOut: number;
}

interface ContextQuestion {
  sizing: Omit<ContextSizeInput, "messages">;
  lastRequest: LastRequest | null;
  model: ModelRef;
  /** Id of the engine that keeps the context small by what it chooses; null = the history goes. */
  chooses: string | null;
  /** What it was asked to compact. */
  compacted: EngineCompactions;
}

/** Pure, in steps. What the next request would take, and what has become of the history so far. */
export function* contextFacts(
  { branch, items }: TranscriptContext,
  { sizing, lastRequest, model, chooses, compacted }: ContextQuestion,
): Steps<Pick<StatusFacts, "context" | "compactions">> {
  const { contextWindow } = sizing;
  const usage = lastRequest?.call.usage ?? null;
  const { harness, held } = lastRequest?.call ?? {};
  // What a program's own session shows is not known.
  const own = harness === undefined || held !== undefined ? lastRequest : null;
  yield;
  const view = items.map(({ entryId: id, message }) => ({ id, message }));
  // What a program adds to its requests is counted with them.
  const counted =
    harness !== undefined || own === null ? undefined : countOf(own, { branch, model });
  const chosen = chooses !== null && own !== null && engineOf(own) === chooses;
  const next = chosen
    ? yield* chosenTokens(own, { view, contextWindow, counted })
    : {
        messages: yield* messageTokenSteps(view, { contextWindow, counted }),
        messageCount: view.length,
      };
  const size = planContextSize({
    ...sizing,
    messages: next.messages,
    newestTokens: newestTokensOf(view.map(({ message }) => message)),
    pace: {
      calls: countCalls(branch).calls,
      growthTokens: growthPerCall(branch, contextWindow),
    },
  });
  yield;
  const compactions = compactionsOf(branch);
  return {
    context: {
      ...size,
      messageCount: next.messageCount,
      measured: usage === null ? null : promptTokensOf(usage) || null,
    },
    compactions: {
      count: compactions.length,
      last: compactions.at(-1) ?? null,
      engine: chooses === null ? null : { ...compacted, ...shareOf(chosen ? own : null) },
      cut: lastRequest?.report.cut ?? null,
    },
  };
}

function shareOf(chosen: LastRequest | null): Pick<EngineShare, "written" | "leftOut"> {
  const { historyMessages = 0, assembledMessages = 0 } = chosen?.report.budget ?? {};
  const written = (chosen?.messages ?? []).filter(
    ({ source: { kind } }) => kind === "engine" || kind === "summary",
  ).length;
  return { written, leftOut: Math.max(0, historyMessages - (assembledMessages - written)) };
}

/** What an engine chose for the last request, and all that was said since. */
function* chosenTokens(
  { report, messages }: LastRequest,
  {
    view,
    contextWindow,
    counted,
  }: {
    view: readonly SizedMessage[];
    contextWindow: number;
    counted: RequestCount | undefined;
  },
): Steps<{ messages: MessageTokens; messageCount: number }> {
  const ids = new Set(
    messages.flatMap(({ source }) => (source.kind === "entry" ? [source.entryId] : [])),
  );
  const since = view.slice(view.findLastIndex(({ id }) => id !== undefined && ids.has(id)) + 1);
  const isReply = ({ id }: SizedMessage) => id !== undefined && id === report.replyEntryId;
  const afterReply = since.slice(since.findIndex(isReply) + 1);
  const { estimate } = yield* messageTokenSteps(since, { contextWindow });
  const after = yield* messageTokenSteps(afterReply, { contextWindow });
  const sent = messages.reduce((total, { tokens }) => total + tokens, 0);
  return {
    messages: {
      estimate: sent + estimate,
      counted: counted === undefined ? null : { tokens: counted.tokens, after: after.estimate },
    },
    messageCount: messages.length + since.length,
  };
}

/** Pure. A line for each fact, and one each where something is asked of the model or its cache. */
export function describeStatus({
  key,
  approvals,
  safeMode,
  model,
  rest,
  resting,
  passedOver,
  fallbacks,
  asks,
  leftOut,
  cost,
  cache,
  learnedWindow,
  engine,
  harness,
  lifecycle,
  shadow,
  context,
  compactions,
}: StatusFacts): string {
  const { tokens, messageCount, promptBudget, measured } = context;
  const { cut } = compactions;
  const counted =
    measured === null ? "" : `; the provider counted ${number(measured)} in the last call`;
  return [
    `Model: ${model.provider}/${model.id}, window ${number(model.contextWindow)} tokens${learnedText(model, learnedWindow)}${rest === null ? "" : `; it ${describeRest(rest, false)}`}${restText(resting)}${passedText(passedOver)}${chainText(fallbacks)}`,
    ...(asks.because.length === 0 ? [] : [`Asked of it: ${asks.because.join(", ")}`]),
    ...leftOutLine(leftOut, asks),
    ...cacheLine(cache),
    `Engine: ${engine.engineId}, ${whyEngine(engine)}`,
    ...harnessLine(harness),
    `Lifecycle: ${lifecycle}; ${engine.ownsCompaction ? "the engine compacts for itself" : "the host compacts"}`,
    isOutOfSight(harness)
      ? `Context: what ${harness.label} holds in its own session, which Clew cannot see${measured === null ? "" : `; the provider counted ${number(measured)} tokens in the last turn`}`
      : `Context: about ${number(tokens)} of ${number(promptBudget)} tokens (${Math.round((100 * tokens) / promptBudget)} %), ${messageCount} messages${counted}`,
    `Compactions: ${compactionsText(compactions)}; ${dueText(context, engine)}`,
    ...costLine(cost),
    ...cutLine(cut),
    ...(shadow === null ? [] : [`Shadow engine: ${visible(describeShadow(shadow))}`]),
    ...safeMode.map(({ plugin, reason }) => `Safe mode: plugin "${plugin}": ${reason}`),
    ...approvals.map((approval) => waitingLine(approval, key)),
  ].join("\n");
}

function waitingLine(approval: Approval, key: string): string {
  const { id, name, sessionKey, expiresAt } = approval;
  const where = sessionKey === key ? "" : ` in session ${describeSession(approval)}`;
  return `Waits for your answer until ${timeOf(expiresAt)}${visible(`${where}: ${name}`)} ${visibleJson(approval.arguments)} ("clew approvals answer ${id} once", or session, or no)`;
}

/** No engine chooses what its model sees. */
const isOutOfSight = (harness: HarnessFacts | null): harness is HarnessFacts =>
  harness?.cannot.includes("assemble-before-prompt") === true;

function harnessLine(harness: HarnessFacts | null): string[] {
  if (harness === null) return ["Runs in: the gateway (embedded)"];
  const { id, label, cannot, takesTools, holds } = harness;
  const toolless = takesTools ? "" : "; its model is offered none of the gateway's tools";
  const lacks = `${cannot.length === 0 ? "" : `; it cannot do ${cannot.join(", ")}`}${toolless}`;
  return [`Runs in: ${label} (${id})${lacks}${holds === null ? "" : `; ${visible(holds)}`}`];
}

const costLine = ({ spent, caps }: StatusFacts["cost"]): string[] =>
  spent.modelCalls === 0 && caps.length === 0 ? [] : [`Cost: ${describeCosts(spent, caps)}`];

const cutLine = (cut: StatusFacts["compactions"]["cut"]): string[] =>
  cut === null
    ? []
    : [
        `Shortened in the last turn, because no compaction made enough room: ${cut.results} tool ${cut.results === 1 ? "result" : "results"}, by about ${number(cut.freedTokens)} tokens; the transcript has them whole`,
      ];

/** What the settings ask in vain is told with what they ask. */
function leftOutLine(leftOut: readonly string[], { leftOut: ofSettings }: AskSettings): string[] {
  const others = leftOut.filter((text) => !ofSettings.includes(text));
  return others.length === 0 ? [] : [`Not sent in the last call: ${others.join("; ")}`];
}

const restText = (resting: StatusFacts["resting"]): string =>
  resting === null
    ? ""
    : `; in place of ${resting.model}, which ${WHAT_HAPPENED[resting.kind]} and is left alone until ${timeOf(resting.until)} ("clew models retry ${resting.model}" asks it again)`;

const passedText = (passedOver: StatusFacts["passedOver"]): string =>
  passedOver === null
    ? ""
    : `; in place of ${passedOver.name}, which cannot be asked: ${passedOver.why.replace(/\.$/, "")}`;

const chainText = (fallbacks: readonly string[]): string =>
  fallbacks.length === 0 ? "" : `; then ${fallbacks.join(", ")}`;

function learnedText({ provider, id }: ModelRef, learned: LearnedWindow | null): string {
  if (learned === null) return "";
  return `, as its provider said on ${learned.at.slice(0, 10)} ("clew models forget ${provider}/${id}" forgets it)`;
}

function compactionsText({ count, last, engine }: StatusFacts["compactions"]): string {
  const ofHost =
    last === null
      ? `${count}`
      : `${count}; the last at ${minute(last.at)}${last.trigger === null ? "" : ` (${last.trigger})`}, of ${last.of}`;
  if (engine === null) return ofHost;
  const { written, leftOut, turns } = engine;
  const newest =
    engine.last === null ? "" : `, the last at ${minute(engine.last.at)} (${engine.last.trigger})`;
  return [
    "the engine's own",
    ...(written > 0
      ? [
          `in the last request ${counted(written, "message")} of its own for ${leftOut} of the history`,
        ]
      : []),
    ...(turns > 0
      ? [`the host asked for ${engine.count} in the last ${counted(turns, "turn")}${newest}`]
      : []),
    ...(count > 0 ? [`by the host ${ofHost}`] : []),
  ].join("; ");
}

const minute = (at: string) => at.slice(0, 19).replace("T", " ");

/** When the next compaction is due. */
function dueText(
  { messages, water, verdict }: ContextSize,
  { ownsCompaction, autoCompaction }: StatusFacts["engine"],
): string {
  if (ownsCompaction) return "it knows when the next is due";
  if (!autoCompaction)
    return "off (agents.defaults.compaction.enabled): only an overflow and /compact compact";
  const marks = `above ${number(water.high)} tokens of messages, down to ${number(water.low)}`;
  if (verdict === "unpaid")
    return `the next ${marks}, as soon as the session is long enough to repay it`;
  return `the next ${marks} (now ${number(messages)})`;
}

function whyEngine(engine: StatusFacts["engine"]): string {
  const { agentId, configured, chosenBy, switchedOff, degraded } = engine;
  if (degraded !== null)
    return `because "${configured}" failed (${degraded.operation}: ${degraded.reason.replaceAll("\n", " ")})`;
  if (switchedOff !== null) return `because ${switchedOff}`;
  const chooser = describeChooser(chosenBy, agentId);
  return chooser === undefined ? "the default" : `chosen by ${chooser}`;
}

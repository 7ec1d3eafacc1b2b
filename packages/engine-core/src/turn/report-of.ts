// Adds a turn's facts up to its report.
import { headOf } from "@clew/plugin-sdk/transcript";
import { HOST_CAPABILITIES } from "../engine/host-support.ts";
import type { BudgetReport } from "../report/engine-call.ts";
import type { ReportParts } from "../report/item.ts";
import type { ModelCallReport } from "../report/model-call.ts";
import type { CompactionReport, ToolCallReport, TurnReport } from "../report/turn-report.ts";
import type { ToolOutcome } from "../tool-outcome.ts";
import { compactionReport } from "./compaction.ts";
import type { Choice, Fact } from "./facts.ts";
import { modelName } from "./perform/model.ts";
import type { Turn, TurnSetup } from "./turn.ts";

/** A fold: nothing else knows more of the turn. */
export function reportOf(
  { setup, error, engine, session, prompt, recoveries }: Turn,
  facts: readonly Fact[],
): TurnReport {
  const closed = facts.find((fact) => fact.type === "closed");
  const durationMs = closed?.ms ?? 0;
  const engineCalls = facts.flatMap((fact) => (fact.type === "engine-called" ? [fact.call] : []));
  const waitedMs = sum(facts.flatMap((fact) => (isWait(fact) ? [fact.ms] : [])));
  const engineMs = sum(engineCalls.map((call) => call.durationMs));
  const outcome = error === null ? "completed" : error.kind === "aborted" ? "aborted" : "failed";
  return {
    v: 1,
    turnId: setup.turnId,
    sessionId: session.sessionId,
    sessionKey: session.sessionKey,
    startedAt: new Date(setup.startedAt).toISOString(),
    durationMs,
    hostMs: Math.max(0, durationMs - waitedMs - engineMs),
    outcome,
    ...(error !== null && { code: error.code ?? error.kind }),
    reason: error?.message ?? null,
    model: {
      requested: setup.requestedModel,
      resolved: modelName(setup.model),
      api: setup.model.api,
      ...(setup.fallback !== null && { fallback: setup.fallback }),
    },
    engine: {
      configured: setup.engine.configured,
      ran: setup.engine.id,
      infoId: setup.engine.info.id,
      name: setup.engine.info.name,
      source: setup.engine.source,
      ownsCompaction: setup.engine.info.ownsCompaction === true,
      degraded: engine.aside ?? setup.engine.degraded,
      projection: projectionOf(facts.findLast(isFirstChoice)?.choice.projection),
    },
    ...executionOf(setup, facts),
    lifecycle: setup.lifecycle,
    engineCalls,
    budget: budgetOf(setup, facts),
    promptEntryId: prompt?.entryId ?? null,
    replyEntryId: replyOf(facts),
    historyChanges: facts.flatMap(historyChangesIn),
    modelCalls: facts.flatMap((fact) =>
      isAnswer(fact) && fact.call !== null ? [namedCall(fact.call, setup)] : [],
    ),
    ...(recoveries.length > 0 && { recoveries: [...recoveries] }),
    toolCalls: facts.flatMap(toolCallsIn),
    compactions: compactionsIn(facts),
    ...cutNotes(facts),
    ...viewNotes(facts, engine.badViews),
    ...deliveryNotes(facts),
  };
}

const projectionOf = (
  chosen: Choice["projection"] | undefined,
): TurnReport["engine"]["projection"] =>
  chosen == null ? null : { mode: chosen.mode, epoch: chosen.epoch ?? null };

/** Which program ran the turn, and what it told. */
function executionOf(
  { execution }: TurnSetup,
  facts: readonly Fact[],
): Pick<TurnReport, "execution"> {
  if (execution === null) return {};
  const { id, harnessId, label, capabilities } = execution;
  const told = facts.flatMap((fact) => (fact.type === "executed" ? [fact.event] : []));
  const notices = told.flatMap((event) => (event.type === "notice" ? [event.text] : []));
  return {
    execution: {
      ...{ id, harnessId, label },
      cannot: HOST_CAPABILITIES.filter((each) => !capabilities.includes(each)),
      projections: told.flatMap((event) =>
        event.type === "handed-over" ? [event.projection] : [],
      ),
      nativeCompactions: told.filter(({ type }) => type === "native-compaction").length,
      ...(notices.length > 0 && { notices }),
    },
  };
}

/** A call names its model where that is not the one that answered. */
export function namedCall({ model, ...call }: ModelCallReport, { model: answering }: TurnSetup) {
  return model === undefined || model === modelName(answering) ? call : { ...call, model };
}

/** Of what a failed call told the model, in characters. */
const NOTE_CHARS = 500;

function toolCallsIn(fact: Fact): ToolCallReport[] {
  if (fact.type === "tool-ran") return [toolCallOf(fact)];
  if (fact.type !== "executed" || fact.event.type !== "messages") return [];
  const { messages, durationMs = 0 } = fact.event;
  return messages.flatMap((message) =>
    message.role === "toolResult"
      ? [toolCallOf({ name: message.toolName, ms: durationMs, outcome: message })]
      : [],
  );
}

function toolCallOf({
  name,
  ms,
  outcome,
}: Pick<Extract<Fact, { type: "tool-ran" }>, "name" | "ms" | "outcome">): ToolCallReport {
  const { content, isError, note } = outcome;
  const told = isError ? headOf(textIn(content), NOTE_CHARS) : "";
  const both = note === undefined || told === "" ? (note ?? told) : joined(note, told);
  return { name, durationMs: ms, isError, ...(both !== "" && { note: both }) };
}

/** Most refusals note what the model is told. */
const joined = (note: string, told: string) =>
  oneLine(note).startsWith(told) ? note : `${note}: ${told}`;

const oneLine = (text: string) => text.replace(/\s+/g, " ").trim();

const textIn = (content: ToolOutcome["content"]): string =>
  oneLine(content.map((block) => (block.type === "text" ? block.text : "")).join(" "));

/** Contents the report names by hash. */
export const partsOf = (facts: readonly Fact[]): ReportParts =>
  Object.assign({}, ...facts.map((fact) => (isAnswer(fact) ? fact.parts : {})));

const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);

const isAnswer = (fact: Fact): fact is Extract<Fact, { type: "answered" | "executed" }> =>
  fact.type === "answered" || fact.type === "executed";

const isWait = (
  fact: Fact,
): fact is Extract<Fact, { type: "answered" | "executed" | "tool-ran" }> =>
  isAnswer(fact) || fact.type === "tool-ran";

const isFirstChoice = (fact: Fact): fact is Extract<Fact, { type: "assembled" }> =>
  fact.type === "assembled" && !fact.again;

function historyChangesIn(fact: Fact) {
  if (fact.type === "read") return [...fact.changes];
  return isFirstChoice(fact) ? [...fact.choice.repairs] : [];
}

function budgetOf({ budget, settings }: TurnSetup, facts: readonly Fact[]): BudgetReport | null {
  const chosen = facts.findLast(isFirstChoice);
  const read = facts.findLast((fact) => fact.type === "read");
  if (chosen === undefined || read === undefined) return null;
  const { choice } = chosen;
  return {
    ...budget,
    assembled: choice.sum,
    engineEstimate: choice.engineEstimate,
    ...(settings.tokenRatio !== 1 && { tokenRatio: settings.tokenRatio }),
    ...(choice.engineEstimate !== null &&
      choice.engineEstimate < choice.sum.low && { underEstimated: true as const }),
    historyMessages: read.history.length,
    assembledMessages: choice.items.length,
  };
}

/** Where the last reply of the turn stands now, after rewrites too. */
function replyOf(facts: readonly Fact[]): string | null {
  let entryId: string | null = null;
  for (const fact of facts) {
    if (fact.type === "appended" && fact.as === "reply") entryId = fact.entries[0]?.id ?? null;
    if (fact.type === "rewritten" && entryId !== null)
      entryId = fact.remapped.get(entryId) ?? entryId;
  }
  return entryId;
}

function compactionsIn(facts: readonly Fact[]): CompactionReport[] {
  let calls = 0;
  return facts.flatMap((fact) => {
    if (isAnswer(fact) && fact.call !== null) calls++;
    return fact.type === "compacted" ? [{ ...compactionReport(fact), afterCalls: calls }] : [];
  });
}

/** Turns the engine has still to be told of, and those it refused too often. */
function deliveryNotes(facts: readonly Fact[]): Pick<TurnReport, "deliveries"> {
  const last = facts.findLastIndex((fact) => fact.type === "surveyed");
  const survey = facts[last];
  if (survey?.type !== "surveyed") return {};
  const refused = facts
    .slice(last)
    .flatMap((fact) => (fact.type === "delivered" && !fact.ok ? [fact.turnId] : []));
  const taken = new Set(
    facts
      .slice(last)
      .flatMap((fact) => (fact.type === "delivered" && fact.ok ? [fact.turnId] : [])),
  );
  const blocked = survey.turns.filter((turn) => turn.blocked).map(({ id }) => id);
  const pending = survey.turns.filter(
    ({ id, blocked: parked }) => !parked && (!taken.has(id) || refused.includes(id)),
  ).length;
  return pending === 0 && blocked.length === 0 ? {} : { deliveries: { pending, blocked } };
}

function cutNotes(facts: readonly Fact[]): Pick<TurnReport, "cut"> {
  const cuts = facts.flatMap((fact) => (fact.type === "cut" && fact.results > 0 ? [fact] : []));
  if (cuts.length === 0) return {};
  const results = sum(cuts.map((cut) => cut.results));
  return { cut: { results, freedTokens: sum(cuts.map((cut) => cut.freedTokens)) } };
}

function viewNotes(facts: readonly Fact[], fallbacks: number) {
  const aligned = sum(
    facts.flatMap((fact) => (fact.type === "assembled" ? [fact.choice.aligned] : [])),
  );
  return aligned === 0 && fallbacks === 0
    ? {}
    : {
        views: {
          ...(aligned > 0 && { aligned }),
          ...(fallbacks > 0 && { fallbacks }),
        },
      };
}

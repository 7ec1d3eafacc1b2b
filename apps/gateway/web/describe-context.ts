// Puts the facts of a turn report into the few words the page shows.
import type { QuarantineRecord } from "@clew/engine-core";
import type { Usage } from "@clew/plugin-sdk/core";
import type { PolicyChange } from "@clew/plugin-sdk/host";
import { promptTokensOf } from "@clew/plugin-sdk/host";
import { formatCount, formatDuration, formatNumberOf } from "../src/conversation/format.ts";
import { describeCache } from "../src/models/describe-cache.ts";
import type { SafeModePlugin } from "../src/plugins/load/record.ts";
import type { ContextView, ContextViewItem } from "../src/reports/context-view.ts";
import { isSameSession } from "./page-state.ts";

/** Whose words an item holds: decides its colour. */
export type Origin = "system" | "tool" | "entry" | "engine" | "policy";

export interface SourceLabel {
  origin: Origin;
  /** "entry 1f2e3d4c", "policy: pair-tool-results"; of a system part or tool its name. */
  text: string;
}

export function describeSource({ source }: Pick<ContextViewItem, "source">): SourceLabel {
  switch (source.kind) {
    case "entry":
      return { origin: "entry", text: `entry ${source.entryId}` };
    case "summary":
      return { origin: "engine", text: `summary ${source.summaryId}` };
    case "engine":
      return { origin: "engine", text: "engine" };
    case "policy":
      return { origin: "policy", text: `policy: ${source.rule}` };
    case "system":
      return { origin: source.part === "engine" ? "engine" : "system", text: source.part };
    case "tool-schema":
      return { origin: "tool", text: source.name };
    case "ledger":
      return { origin: "engine", text: "ledger" };
  }
}

/** Which engine ran, and why that one. */
export function describeEngine({ engine }: Pick<ContextView, "engine">): string {
  if (engine.degraded !== null && engine.ran === engine.configured)
    return "as configured, until it failed in this turn";
  if (engine.degraded !== null)
    return `answering in place of ${engine.configured ?? "the configured engine"}`;
  if (engine.source === "configured") return "as configured";
  return engine.configured === null
    ? "the default; none is configured"
    : `the default; ${engine.configured} is switched off`;
}

export interface Alarm {
  title: string;
  reason: string;
  next: string;
}

/** A plugin that blocked the gateway; the reason says what brings it back. */
export function describeSafeMode({ plugin, reason }: SafeModePlugin): Alarm {
  return {
    title: `Safe mode: the plugin ${plugin} is off`,
    reason: `Because of it the gateway was ended: ${reason}.`,
    next: "Where its engine is chosen, legacy answers; its tools and commands are not there.",
  };
}

/** The engine is away because its plugin is: that is said already. */
export const isToldBy = (safeMode: readonly SafeModePlugin[], { reason: why }: Alarm): boolean =>
  safeMode.some(({ reason }) => why.includes(reason));

/**
 * What must not be overlooked: another engine than the configured one answers. Null
 * when all is as configured.
 */
export function describeAlarm(
  view: Pick<ContextView, "engine"> | null,
  quarantined: readonly QuarantineRecord[],
  sessionKey: string,
): Alarm | null {
  // What another session's data broke is no alarm here.
  const records = quarantined.filter(
    ({ scope }) => scope.kind !== "session" || isSameSession(scope.sessionKey, sessionKey),
  );
  const [record] = records;
  const degraded = view?.engine.degraded ?? record ?? null;
  if (degraded === null) return null;
  const failed = view?.engine.degraded == null ? record?.engineId : view.engine.configured;
  const aside = records.find(({ engineId }) => engineId === failed);
  return {
    title: `${failed == null ? "The configured engine" : `The engine ${failed}`} ${describeAbsence(view?.engine)}`,
    reason: `It failed during ${degraded.operation}: ${degraded.reason}`,
    next:
      failed === undefined || failed === null || aside?.scope.kind === "everywhere"
        ? "It stays set aside until the gateway restarts. Run “clew doctor” to see what is wrong, then restart."
        : aside === undefined
          ? "It is no longer set aside: the next message tries it again."
          : "It is set aside in this session only. “/engine” says more, “/engine retry” gives it another chance.",
  };
}

/** "1,234 in (1,000 from cache), 56 out"; null when the provider told nothing. */
export function describeUsage(usage: Usage | null): string | null {
  if (usage === null) return null;
  const read = usage.cacheRead > 0 ? ` (${formatCount(usage.cacheRead)} from cache)` : "";
  const cost =
    usage.cost !== undefined && usage.cost.total > 0 ? `, $${usage.cost.total.toFixed(4)}` : "";
  return `${formatCount(promptTokensOf(usage))} in${read}, ${formatCount(usage.output)} out${cost}`;
}

/** A fact of the turn; `lines` are shown when it is opened. */
/** In a turn that an engine had begun, the engine that took over is not named. */
function describeAbsence(engine: ContextView["engine"] | undefined): string {
  if (engine === undefined || engine.degraded === null) return "is not running";
  return engine.ran === engine.configured
    ? "failed, and another one took over"
    : `is not running; ${engine.ran} answered instead`;
}

export interface Fact {
  label: string;
  value: string;
  lines: readonly string[];
  isBad: boolean;
  /** Places of the lines that are bad. Absent: all are, where the fact is. */
  badLines?: readonly number[];
}

/** Pure. What happened in the turn, the important first; what did not happen is not mentioned. */
export function describeTurn(view: ContextView): Fact[] {
  const { outcome, turn, call, policyChanges, budget } = view;
  const usage = describeUsage(call.usage);
  const engineMs = turn.engineCalls.reduce((sum, { durationMs }) => sum + durationMs, 0);
  const changes = [...turn.historyChanges, ...policyChanges];
  const facts: (Fact | null)[] = [
    fact("Outcome", outcome, turn.reason === null ? [] : [turn.reason], outcome === "failed"),
    fact("Took", formatDuration(turn.durationMs), [
      `last model call ${formatDuration(call.durationMs)}`,
      `engine ${formatDuration(engineMs)}`,
      `host ${formatDuration(turn.hostMs)}`,
    ]),
    describeModel(view.model),
    describeExecution(turn.execution, call.held),
    fact("Model calls", formatCount(turn.modelCalls), retryLines(call.retries)),
    describeRecoveries(turn.recoveries),
    call.leftOut === undefined
      ? null
      : fact("Not sent", formatNumberOf(call.leftOut.length, "setting"), call.leftOut),
    usage === null ? null : fact("Provider counted", usage, []),
    describeCacheUse(call),
    turn.toolCalls.length === 0
      ? null
      : {
          ...fact("Tools", countCalls(turn.toolCalls), turn.toolCalls.map(describeToolCall)),
          ...badOf(turn.toolCalls.map(({ isError }) => isError)),
        },
    turn.compactions.length === 0
      ? null
      : {
          ...fact(
            "Compactions",
            formatCount(turn.compactions.length),
            turn.compactions.map(describeCompaction),
          ),
          ...badOf(turn.compactions.map(({ ok }) => !ok)),
        },
    turn.cut === undefined
      ? null
      : fact("Shortened in bulk", formatNumberOf(turn.cut.results, "tool result"), [
          `by about ${formatCount(turn.cut.freedTokens)} tokens, because no compaction made enough room; the transcript has them whole`,
        ]),
    changes.length === 0
      ? null
      : fact(
          "Changed for the provider",
          formatNumberOf(sumOf(changes), "time"),
          changes.map(describeChange),
        ),
    describeEngineCalls(turn.engineCalls),
    describeViews(turn.views, budget),
    describeDeliveries(turn.deliveries),
    describeMemory(turn.memory),
    describeRefusals(turn.refusals),
    describeToolServers(turn.toolServers),
    turn.notices === undefined
      ? null
      : fact("To be noted", formatNumberOf(turn.notices.length, "thing"), turn.notices, true),
  ];
  return facts.filter((each) => each !== null);
}

function fact(label: string, value: string, lines: readonly string[], isBad = false): Fact {
  return { label, value, lines, isBad };
}

/** One that failed makes no other one bad. */
function badOf(areBad: readonly boolean[]): Pick<Fact, "isBad" | "badLines"> {
  const badLines = areBad.flatMap((isBad, place) => (isBad ? [place] : []));
  return badLines.length === 0 ? { isBad: false } : { isBad: true, badLines };
}

function countCalls(calls: ContextView["turn"]["toolCalls"]): string {
  const failed = calls.filter(({ isError }) => isError).length;
  return `${formatNumberOf(calls.length, "call")}${failed === 0 ? "" : `, ${formatCount(failed)} failed`}`;
}

/** Mentioned where another model answered than was asked for. */
function describeModel({ requested, resolved, fallback }: ContextView["model"]): Fact | null {
  if (fallback === undefined) return null;
  return fact("Model", resolved, [`in place of ${requested} (${words(fallback)})`], true);
}

/** Which program ran the turn, and what it was handed; `held`: messages that its thread had. */
function describeExecution(
  execution: ContextView["turn"]["execution"],
  held: number | undefined,
): Fact | null {
  if (execution === undefined) return null;
  const { label, projections, nativeCompactions, notices = [], cannot } = execution;
  return fact("Ran in", label, [
    ...projections.map(
      ({ thread, threadId, reason, handed }) =>
        `${formatNumberOf(handed, "message")} handed over, thread ${threadId} (${thread}): ${reason}`,
    ),
    held === undefined
      ? "what its own session shows besides, Clew cannot see"
      : held === 0
        ? "listed is all that it was handed"
        : `listed is the whole view: its thread held the first ${formatNumberOf(held, "message")}`,
    ...(nativeCompactions === 0 ? [] : [`compacted by itself: ${formatCount(nativeCompactions)}`]),
    ...(cannot.length === 0 ? [] : [`cannot do: ${cannot.join(", ")}`]),
    ...notices,
  ]);
}

/** What came from the provider's cache, beside what should have. */
function describeCacheUse({ cache, providerChanges = [] }: ContextView["call"]): Fact | null {
  const text = cache === undefined ? null : describeCache(cache);
  const lines = [...(text === null ? [] : [text]), ...providerChanges];
  if (lines.length === 0) return null;
  return fact("Cache", `${formatCount(cache?.billed ?? 0)} tokens read`, lines);
}

/** What was done about failed calls. */
function describeRecoveries(recoveries: ContextView["turn"]["recoveries"]): Fact | null {
  if (recoveries === undefined) return null;
  const lines = recoveries.map(({ model, kind, remedy, to, message }) =>
    to === undefined
      ? `${model} was asked again ${words(remedy ?? "")} (${words(kind)}): ${message}`
      : `${to} was asked in place of ${model} (${words(kind)}): ${message}`,
  );
  return fact("Recovered", formatNumberOf(lines.length, "time"), lines);
}

const words = (code: string): string => code.replaceAll(/[-_]/g, " ");

function retryLines(retries: number): string[] {
  return retries === 0 ? [] : [`the last one was retried ${formatNumberOf(retries, "time")}`];
}

function describeToolCall({
  name,
  durationMs,
  isError,
  note,
}: ContextView["turn"]["toolCalls"][number]): string {
  const why = note === undefined ? "" : `: ${note}`;
  return `${name}: ${isError ? "failed after" : "done in"} ${formatDuration(durationMs)}${why}`;
}

function describeCompaction({
  trigger,
  ok,
  compacted,
  reason,
  tokensBefore,
  tokensAfter,
  durationMs,
}: ContextView["turn"]["compactions"][number]): string {
  const sizes =
    tokensBefore !== null && tokensAfter !== null
      ? `: ${formatCount(tokensBefore)} → ${formatCount(tokensAfter)} tokens`
      : "";
  const result = !ok ? "failed" : compacted ? "done" : "nothing to do";
  return `${trigger.replace("_", " ")}, ${result}${sizes} in ${formatDuration(durationMs)}${reason === null ? "" : ` (${reason})`}`;
}

function describeChange({ rule, action, reason, count = 1 }: PolicyChange): string {
  return `${rule}: ${action}${count > 1 ? ` ${formatCount(count)} times` : ""}, ${reason}`;
}

function sumOf(changes: readonly PolicyChange[]): number {
  return changes.reduce((sum, { count = 1 }) => sum + count, 0);
}

function describeEngineCalls(calls: ContextView["turn"]["engineCalls"]): Fact | null {
  if (calls.length === 0) return null;
  const lines = calls.map(
    ({ method, outcome, durationMs, detail }) =>
      `${method}: ${outcome} in ${formatDuration(durationMs)}${detail === undefined ? "" : ` (${detail})`}`,
  );
  return fact(
    "Engine",
    formatNumberOf(calls.length, "call"),
    lines,
    calls.some(({ outcome }) => outcome !== "ok" && outcome !== "aborted"),
  );
}

/** What was odd about the engine's choice. */
function describeViews(
  views: ContextView["turn"]["views"],
  budget: ContextView["budget"],
): Fact | null {
  const { fallbacks = 0, aligned = 0 } = views ?? {};
  const lines = [
    ...(fallbacks > 0
      ? [`${formatNumberOf(fallbacks, "call")} without it: the host could not use it`]
      : []),
    ...(aligned > 0
      ? [`${formatNumberOf(aligned, "message")} without ids, recognised by their content`]
      : []),
    ...(budget?.underEstimated === true
      ? ["the engine told fewer tokens than its messages can take"]
      : []),
  ];
  if (lines.length === 0) return null;
  return fact("Engine’s choice", "odd", lines, fallbacks > 0);
}

function describeDeliveries(deliveries: ContextView["turn"]["deliveries"]): Fact | null {
  if (deliveries === undefined) return null;
  const { pending, blocked } = deliveries;
  const lines = [
    ...(pending > 0 ? [`${formatNumberOf(pending, "turn")} will be offered again`] : []),
    ...(blocked.length > 0
      ? [
          `${formatNumberOf(blocked.length, "turn")} refused three times; “/engine retry” offers ${blocked.length === 1 ? "it" : "them"} again`,
        ]
      : []),
  ];
  const total = pending + blocked.length;
  return fact("Not taken by the engine", formatNumberOf(total, "turn"), lines, blocked.length > 0);
}

function describeMemory(memory: ContextView["turn"]["memory"]): Fact | null {
  if (memory === undefined) return null;
  const { plugin, bytes, shownBy } = memory;
  const said =
    shownBy === undefined
      ? "added nothing to the system prompt"
      : shownBy === "nobody"
        ? `${formatCount(bytes)} bytes for the system prompt, which the engine left out`
        : `${formatCount(bytes)} bytes of the system prompt, shown by the ${shownBy}`;
  return fact("Memory", plugin, [said], shownBy === "nobody");
}

/** What plugins were not given, or did not give in time. */
function describeToolServers(notes: ContextView["turn"]["toolServers"] = []): Fact | null {
  if (notes.length === 0) return null;
  const isBad = notes.some(({ kind }) => kind !== "back" && kind !== "changed");
  const lines = notes.map(({ text }) => text);
  return fact("MCP servers", formatNumberOf(notes.length, "event"), lines, isBad);
}

function describeRefusals(refusals: ContextView["turn"]["refusals"] = []): Fact | null {
  if (refusals.length === 0) return null;
  const lines = refusals.map(({ plugin, asked, reason }) => `${plugin}, ${asked}: ${reason}`);
  return fact("Plugins", formatNumberOf(refusals.length, "refusal"), lines, true);
}

// Counts what turns did, from their reports, with labels that cannot grow without bound.
import type { EngineCallReport, ModelCallReport, TurnReport } from "@clew/engine-core";
import type { Usage } from "@clew/plugin-sdk/core";
import { createSeries, type Series } from "./series.ts";

export interface Tally extends Series {
  take(report: TurnReport): void;
  /** An answer at the door has ended, whether there was a turn or not. */
  answered(answer: { wire: string; status: number }): void;
}

/** Upper bounds of the buckets, seconds. */
const BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600] as const;

export function createTally(): Tally {
  const { counted, timed, counter, timer: timerOf } = createSeries();
  const timer = (name: string, help: string) => timerOf(name, help, BUCKETS);

  const turns = counter("clew_turns_total", "Turns that are over.", "outcome", "engine");
  const turnErrors = counter("clew_turn_errors_total", "Turns without a reply, by why.", "kind");
  const turnTime = timer("clew_turn_duration_seconds", "How long turns took.");
  const hostTime = counter(
    "clew_turn_host_seconds_total",
    "Time of turns that was neither model, nor tool, nor engine.",
  );
  const calls = counter("clew_model_calls_total", "Model calls.", "model", "purpose", "outcome");
  const callErrors = counter("clew_model_errors_total", "Failed model calls.", "model", "kind");
  const callTime = timer("clew_model_call_duration_seconds", "How long calls for replies took.");
  const retries = counter("clew_model_retries_total", "Repetitions before a first byte.", "model");
  const tokens = counter("clew_tokens_total", "Tokens as they were billed.", "model", "kind");
  const dollars = counter("clew_cost_dollars_total", "What calls cost, as far as known.", "model");
  const unknown = counter(
    "clew_cost_unknown_calls_total",
    "Calls that were answered and whose cost is not known.",
    "model",
  );
  const engineCalls = counter(
    ...(["clew_engine_calls_total", "Calls of engines."] as const),
    ...["engine", "method", "outcome"],
  );
  const engineTime = counter(
    ...(["clew_engine_seconds_total", "Time in engines.", "engine", "method"] as const),
  );
  const tools = counter("clew_tool_calls_total", "Tool calls.", "outcome");
  const compactions = counter("clew_compactions_total", "Compactions.", "trigger", "outcome");

  const atDoor = counter(
    ...(["clew_door_requests_total", "Requests of clients with a history of their own."] as const),
    ...["wire", "kind", "matched", "outcome"],
  );
  const answers = counter(
    ...(["clew_door_answers_total", "Answers at the door by status, refusals too."] as const),
    ...["wire", "status"],
  );
  const views = counter("clew_door_views_moved_total", "Views that were cut anew.", "wire");
  const aside = counter(
    "clew_door_set_aside_tokens_total",
    "Tokens of clients' histories that were not sent.",
    "wire",
  );

  const addUsage = (model: string, usage: Usage | null, failed: boolean) => {
    if (usage === null) {
      if (!failed) unknown({ model });
      return;
    }
    tokens({ model, kind: "input" }, usage.input);
    tokens({ model, kind: "output" }, usage.output);
    tokens({ model, kind: "cache_read" }, usage.cacheRead);
    tokens({ model, kind: "cache_write" }, usage.cacheWrite);
    if (usage.cost === undefined) unknown({ model });
    else dollars({ model }, usage.cost.total);
  };
  const addCall = (call: ModelCallReport, { model: of }: TurnReport) => {
    const model = call.model ?? of.resolved;
    const kind = call.failure?.kind ?? (call.error === null ? null : "error");
    calls({ model, purpose: "reply", outcome: kind === null ? "ok" : "failed" });
    if (kind !== null) callErrors({ model, kind });
    if (call.retries > 0) retries({ model }, call.retries);
    callTime(call.durationMs);
    addUsage(model, call.usage, kind !== null);
  };
  const addEngineCall = ({ method, outcome, durationMs }: EngineCallReport, engine: string) => {
    engineCalls({ engine, method, outcome });
    engineTime({ engine, method }, durationMs / 1000);
  };
  return {
    counted,
    timed,
    answered: ({ wire, status }) => answers({ wire, status: String(status) }),
    take(report) {
      const { outcome, engine, code, durationMs, hostMs, door } = report;
      if (door !== undefined) {
        const { wire, kind, matchedBy: matched, view } = door;
        atDoor({ wire, kind, matched, outcome: code ?? outcome });
        if (view?.moved === true) views({ wire });
        if (view !== undefined) aside({ wire }, view.setAside);
      }
      turns({ outcome, engine: engine.ran });
      if (code !== undefined) turnErrors({ kind: code });
      turnTime(durationMs);
      hostTime({}, hostMs / 1000);
      for (const call of report.modelCalls) addCall(call, report);
      for (const { for: purpose, model, usage, failure } of report.sideCalls ?? []) {
        calls({ model, purpose, outcome: failure === undefined ? "ok" : "failed" });
        if (failure !== undefined) callErrors({ model, kind: failure });
        addUsage(model, usage, failure !== undefined);
      }
      for (const call of report.engineCalls) addEngineCall(call, engine.ran);
      for (const { isError } of report.toolCalls) tools({ outcome: isError ? "failed" : "ok" });
      for (const { trigger, ok, compacted } of report.compactions)
        compactions({ trigger, outcome: compacted ? "compacted" : ok ? "nothing" : "failed" });
    },
  };
}

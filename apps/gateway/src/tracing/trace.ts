// What a turn is as a trace, and what takes one.
import type { TurnResult, TurnStep } from "@clew/engine-core";

/** A turn as a trace: its own span, and those below it. */
export interface Trace extends TracePart {
  parts: TracePart[];
}

export interface TracePart {
  name: string;
  /** ms since the epoch. */
  startMs: number;
  endMs: number;
  outcome: TurnStep["outcome"];
  attributes: Readonly<Record<string, string | number>>;
}

/** Pure. Names no session, no agent and nothing that was said. */
export function planTrace(
  { report }: Pick<TurnResult, "report">,
  steps: readonly TurnStep[],
): Trace {
  const { turnId, engine, model, lifecycle, outcome, code, durationMs } = report;
  const startMs = Date.parse(report.startedAt);
  return {
    ...{ name: "clew turn", startMs, endMs: startMs + durationMs },
    outcome: outcome === "completed" ? "ok" : outcome,
    attributes: {
      "clew.turn_id": turnId,
      "clew.engine": engine.ran,
      "clew.lifecycle": lifecycle,
      "clew.model_calls": report.modelCalls.length,
      "clew.tool_calls": report.toolCalls.length,
      "clew.compactions": report.compactions.length,
      "gen_ai.request.model": model.requested,
      "gen_ai.response.model": model.resolved,
      ...(engine.degraded !== null && { "clew.degraded": engine.degraded.operation }),
      ...(code !== undefined && { "error.type": code }),
    },
    parts: steps.map(({ name, atMs, durationMs: took, outcome: how, attributes }) => ({
      ...{ name, outcome: how, attributes },
      startMs: startMs + atMs,
      endMs: startMs + atMs + took,
    })),
  };
}

/** Told of each sending; null: it was taken. */
export type TellSent = (lost: { spans: number; why: string } | null) => void;

export const tracesUrl = (endpoint: string): string => `${endpoint.replace(/\/+$/, "")}/v1/traces`;

export interface Sender {
  send(turn: Trace): void;
  close(): Promise<void>;
}

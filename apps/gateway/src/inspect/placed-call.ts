// Names a model call by its place in its session.
import type { EngineFailure, ModelCallReport, TurnReport } from "@clew/engine-core";

export interface PlacedCall {
  /** Ordinal of the turn's report in its session. */
  turn: number;
  /** Counts the calls of the turn from 1. */
  number: number;
  report: TurnReport;
  call: ModelCallReport;
}

/** "58.3": the third call of the 58th turn. */
export const callId = ({ turn, number }: Pick<PlacedCall, "turn" | "number">): string =>
  `${turn}.${number}`;

/** Undefined: nothing that could name a call. */
export function parseCallId(id: string): Pick<PlacedCall, "turn" | "number"> | undefined {
  const [, turn, number] = /^(\d{1,9})\.(\d{1,9})$/.exec(id.trim()) ?? [];
  return turn === undefined ? undefined : { turn: Number(turn), number: Number(number) };
}

/** The calls of one report, placed. */
export const placedCalls = (turn: number, report: TurnReport): PlacedCall[] =>
  report.modelCalls.map((call, index) => ({ turn, number: index + 1, report, call }));

/** Who was asked. */
export const modelOf = ({ call, report }: Pick<PlacedCall, "call" | "report">): string =>
  call.model ?? report.model.resolved;

/** Whose choice of messages was sent. */
export const engineOf = ({ call, report }: Pick<PlacedCall, "call" | "report">): string =>
  call.engine ?? report.engine.ran;

/** Why another engine chose than the configured one; null = that one did. */
export const degradedIn = ({
  call,
  report,
}: Pick<PlacedCall, "call" | "report">): EngineFailure | null =>
  call.engine === undefined && report.engine.ran === report.engine.configured
    ? null
    : report.engine.degraded;

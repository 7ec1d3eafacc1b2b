// Reads a session as a recording, beside what its reports say of the calls it made.
import type { TurnReport } from "@clew/engine-core";
import type { ToolDefinition } from "@clew/plugin-sdk/host";
import type { WhatIf } from "../inspect/shapes.ts";
import { planRecordedTurns, type RecordedTurn } from "../replay/recorded-turns.ts";
import { quantile } from "../replay/summary.ts";
import { REPORTS_START, readReports } from "../reports/read-reports.ts";
import { readPart } from "../reports/report-log.ts";
import { sessionNotFound } from "../sessions/name-errors.ts";
import { agentPaths } from "../sessions/paths.ts";
import { createSessionStore } from "../sessions/store.ts";
import type { MeasuredPoint } from "./points.ts";

export interface SessionRecording {
  key: string;
  agentId: string;
  sessionId: string;
  turns: readonly RecordedTurn[];
  asItWas: WhatIf["asItWas"];
  /** What its newest call was offered. */
  tools: readonly ToolDefinition[];
  /** The session's own calls that stand where a played one would. */
  calls: OwnCalls;
}

/** Ids of the calls that have a reply, in order, by the entry of the turn's prompt. */
export type OwnCalls = ReadonlyMap<string, readonly string[]>;

/** Reads only. Throws SESSION_NOT_FOUND, TRANSCRIPT_UNREADABLE. */
export async function readSessionRecording(home: string, name: string): Promise<SessionRecording> {
  const session = await createSessionStore({ home }).read(name);
  if (session === null) throw sessionNotFound(name);
  const { key, agentId, sessionId, branch } = session;
  const reports: PlacedTurn[] = [];
  const { reports: folder } = agentPaths(home, agentId);
  await readReports(folder, sessionId, REPORTS_START, ({ turn, report }) =>
    reports.push({ turn, report }),
  );
  const all = reports.map(({ report }) => report);
  return {
    ...{ key, agentId, sessionId },
    turns: planRecordedTurns(branch),
    asItWas: planAsItWas(all),
    tools: await readTools(folder, toolsOf(all)),
    calls: planOwnCalls(reports),
  };
}

interface PlacedTurn {
  /** Ordinal in its session. */
  turn: number;
  report: TurnReport;
}

/** Pure. A call without a reply is played only where the turn ended with it. */
export function planOwnCalls(reports: readonly PlacedTurn[]): OwnCalls {
  const calls = new Map<string, string[]>();
  for (const { turn, report } of reports) {
    if (report.promptEntryId === null) continue;
    const ids = report.modelCalls.flatMap(({ error }, at) =>
      error === null || at === report.modelCalls.length - 1 ? [`${turn}.${at + 1}`] : [],
    );
    calls.set(report.promptEntryId, ids);
  }
  return calls;
}

/** Pure. The point with the call that it stands in place of. */
export function atOwnCall({ place, ...point }: MeasuredPoint, calls: OwnCalls) {
  const ids = place.promptEntryId === null ? undefined : calls.get(place.promptEntryId);
  return { ...point, ofCall: ids?.[place.step] ?? null };
}

/** Pure. */
export function planAsItWas(reports: readonly TurnReport[]): WhatIf["asItWas"] {
  const calls = reports.flatMap(({ modelCalls }) => modelCalls);
  const tokens = calls.map(({ system, tools, messages }) =>
    [...system, ...tools].reduce((sum, item) => sum + item.tokens, messages.tokens),
  );
  const last = reports.findLast(({ modelCalls }) => modelCalls.length > 0);
  return {
    engine: last?.engine.ran ?? null,
    model: last?.model.resolved ?? null,
    contextWindow: last?.budget?.contextWindow ?? null,
    calls: calls.length,
    tokens: {
      total: tokens.reduce((sum, one) => sum + one, 0),
      median: quantile(tokens, 0.5),
      max: Math.max(0, ...tokens),
    },
  };
}

/** The tools that a call was offered, by their hashes; those that are not stored are left out. */
export async function readTools(
  folder: string,
  hashes: readonly string[],
): Promise<ToolDefinition[]> {
  const parts = await Promise.all(hashes.map((hash) => readPart(folder, hash)));
  return parts.flatMap((part): ToolDefinition[] => {
    try {
      const tool = JSON.parse(part ?? "") as ToolDefinition;
      return typeof tool.name === "string" ? [tool] : [];
    } catch {
      return [];
    }
  });
}

/** Those of the newest call. */
export const toolsOf = (reports: readonly TurnReport[]): string[] =>
  (reports.findLast(({ modelCalls }) => modelCalls.length > 0)?.modelCalls.at(-1)?.tools ?? []).map(
    ({ hash }) => hash,
  );

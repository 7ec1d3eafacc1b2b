// Reads a session as a recording, beside what its reports say of the calls it made.
import type { TurnReport } from "@clew/engine-core";
import type { ToolDefinition } from "@clew/plugin-sdk/host";
import { addCosts } from "../costs/cost.ts";
import { namedSession } from "../demo/demo-place.ts";
import { NO_PRICES } from "../inspect/cost.ts";
import { sentTokens } from "../inspect/sent-tokens.ts";
import { createSessionCalls, type WalkedCall } from "../inspect/session-calls.ts";
import type { WhatIf } from "../inspect/shapes.ts";
import { planRecordedTurns, type RecordedTurn } from "../replay/recorded-turns.ts";
import { quantile } from "../replay/summary.ts";
import { readPart } from "../reports/report-log.ts";
import { sessionNotFound } from "../sessions/name-errors.ts";
import { agentPaths, transcriptFile } from "../sessions/paths.ts";
import { readAllEntries } from "../sessions/read-transcript.ts";
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
  const session = await createSessionStore({ home }).read(await namedSession(home, name));
  if (session === null) throw sessionNotFound(name);
  const { key, agentId, sessionId, branch } = session;
  const { reports: folder } = agentPaths(home, agentId);
  const allEntries = () => readAllEntries(transcriptFile(home, agentId, sessionId));
  const walked: OwnCall[] = [];
  await createSessionCalls({ folder, sessionId, branch, allEntries }, NO_PRICES, "estimated").walk(
    ({ report, call, row }) => walked.push({ report, call, row }),
  );
  const last = walked.at(-1)?.report;
  return {
    ...{ key, agentId, sessionId },
    turns: planRecordedTurns(branch),
    asItWas: planAsItWas(walked),
    tools: await readTools(folder, toolsOf(last === undefined ? [] : [last])),
    calls: planOwnCalls(walked),
  };
}

type OwnCall = Pick<WalkedCall, "report" | "call" | "row">;

/** Pure. A call without a reply is played only where the turn ended with it. */
export function planOwnCalls(calls: readonly OwnCall[]): OwnCalls {
  const own = new Map<string, string[]>();
  for (const { report, call, row } of calls) {
    const { promptEntryId, modelCalls } = report;
    if (promptEntryId === null) continue;
    const ids = row.call === 1 ? [] : (own.get(promptEntryId) ?? []);
    if (call.error === null || row.call === modelCalls.length) ids.push(row.id);
    own.set(promptEntryId, ids);
  }
  return own;
}

/** Pure. The point with the call that it stands in place of. */
export function atOwnCall({ place, ...point }: MeasuredPoint, calls: OwnCalls) {
  const ids = place.promptEntryId === null ? undefined : calls.get(place.promptEntryId);
  return { ...point, ofCall: ids?.[place.step] ?? null };
}

/** Pure. */
export function planAsItWas(calls: readonly OwnCall[]): WhatIf["asItWas"] {
  const answered = calls.filter(({ row }) => row.error === null);
  const tokens = answered.map(({ row }) => sentTokens(row));
  const costs = calls.flatMap(({ row }) => (row.cost === null ? [] : [row.cost]));
  const last = calls.at(-1)?.report;
  return {
    engine: last?.engine.ran ?? null,
    model: last?.model.resolved ?? null,
    contextWindow: last?.budget?.contextWindow ?? null,
    calls: calls.length,
    unanswered: calls.length - answered.length,
    tokens: {
      total: tokens.reduce((sum, one) => sum + one, 0),
      median: quantile(tokens, 0.5),
      max: Math.max(0, ...tokens),
    },
    cost: costs.length < calls.length ? null : addCosts(costs),
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

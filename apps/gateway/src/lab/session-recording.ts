// Reads a session as a recording, beside what its reports say of the calls it made.
import type { TurnReport } from "@clew/engine-core";
import type { ToolDefinition } from "@clew/plugin-sdk/host";
import { addCosts } from "../costs/cost.ts";
import { namedSession } from "../demo/demo-place.ts";
import type { PlayedSystem } from "../host/host.ts";
import { NO_PRICES } from "../inspect/cost.ts";
import { ownDollars } from "../inspect/cost-with-sides.ts";
import { sentTokens } from "../inspect/sent-tokens.ts";
import { createSessionCalls, type WalkedCall } from "../inspect/session-calls.ts";
import { planRecordedTurns, type RecordedTurn } from "../replay/recorded-turns.ts";
import { quantile } from "../replay/summary.ts";
import { readPart } from "../reports/report-log.ts";
import { agentPaths, transcriptFile } from "../sessions/paths.ts";
import { readAllEntries } from "../sessions/read-transcript.ts";
import type { Storage } from "../storage/storage.ts";
import type { MeasuredPoint } from "./points.ts";
import type { WhatIf } from "./shapes.ts";

export interface SessionRecording {
  key: string;
  agentId: string;
  sessionId: string;
  turns: readonly RecordedTurn[];
  asItWas: AsBilled;
  /** What its newest call was offered. */
  tools: readonly ToolDefinition[];
  /** What a client said in its system prompt. */
  system: PlayedSystem;
  /** The session's own calls that stand where a played one would. */
  calls: OwnCalls;
  /** All of them, oldest first. */
  own: readonly OwnCall[];
}

/** Ids of the calls that have a reply, by the entry of the turn's prompt and the step, from 0. */
export type OwnCalls = ReadonlyMap<string, ReadonlyMap<number, string>>;

/** Reads only. Throws SESSION_NOT_FOUND, TRANSCRIPT_UNREADABLE. */
export async function readSessionRecording(
  { sessions: store, records }: Pick<Storage, "sessions" | "records">,
  { home, name }: { home: string; name: string },
): Promise<SessionRecording> {
  const session = await store.read(await namedSession(home, name));
  if (session === null) throw await store.notFound(name);
  const { key, agentId, sessionId, branch } = session;
  const { reports: folder } = agentPaths(records, agentId);
  const allEntries = () => readAllEntries(transcriptFile(records, agentId, sessionId));
  const walked: OwnCall[] = [];
  await createSessionCalls({ folder, sessionId, branch, allEntries }, NO_PRICES, "estimated").walk(
    ({ report, call, row }) => walked.push({ report, call, row }),
  );
  const last = walked.at(-1)?.report;
  const turns = planRecordedTurns(branch);
  return {
    ...{ key, agentId, sessionId, turns },
    asItWas: planAsItWas(walked),
    tools: await readTools(folder, toolsOf(last === undefined ? [] : [last])),
    system: await readSystem(folder, last),
    calls: planOwnCalls(walked, turns),
    own: walked,
  };
}

/** By the newest call: at the door a client may bring all of it. */
async function readSystem(folder: string, last: TurnReport | undefined): Promise<PlayedSystem> {
  const all = last?.modelCalls.at(-1)?.system ?? [];
  const ofClient = all.filter(
    ({ source }) => source.kind === "system" && /^client(?: \d+)?$/.test(source.part),
  );
  const texts = await Promise.all(ofClient.map(({ hash }) => readPart(folder, hash)));
  return {
    texts: texts.filter((text) => text !== null),
    isAlone: last?.door !== undefined && ofClient.length === all.length,
  };
}

export type OwnCall = Pick<WalkedCall, "report" | "call" | "row">;

/** Pure. A call without a reply is played only where the turn ended with it. */
export function planOwnCalls(calls: readonly OwnCall[], turns: readonly RecordedTurn[]): OwnCalls {
  const places = placesOfReplies(turns);
  const own = new Map<string, Map<number, string>>();
  const atDoor = new Set<string>();
  const set = (promptEntryId: string, step: number, id: string) =>
    own.set(promptEntryId, (own.get(promptEntryId) ?? new Map()).set(step, id));
  for (const { report, call, row } of calls) {
    const { promptEntryId, replyEntryId, modelCalls } = report;
    if (report.door !== undefined) {
      // There each request has a turn of its own, and results of tools have no prompt.
      const place = places.get(replyEntryId ?? "");
      if (place === undefined) continue;
      set(place.promptEntryId, place.step, row.id);
      atDoor.add(place.promptEntryId);
      continue;
    }
    if (promptEntryId === null) continue;
    // What a client began with its whole history may go on by the session's name.
    if (row.call === 1 && !atDoor.has(promptEntryId)) own.delete(promptEntryId);
    if (call.error === null || row.call === modelCalls.length)
      set(promptEntryId, own.get(promptEntryId)?.size ?? 0, row.id);
  }
  return own;
}

/** By the entries of the replies. */
const placesOfReplies = (turns: readonly RecordedTurn[]) =>
  new Map(
    turns.flatMap(({ promptEntryId, steps }) =>
      steps.flatMap(({ replyEntryId }, step) =>
        promptEntryId === undefined || replyEntryId === undefined
          ? []
          : [[replyEntryId, { promptEntryId, step }] as const],
      ),
    ),
  );

/** Pure. The point with the call that it stands in place of. */
export function atOwnCall({ place, ...point }: MeasuredPoint, calls: OwnCalls) {
  const ids = place.promptEntryId === null ? undefined : calls.get(place.promptEntryId);
  return { ...point, ofCall: ids?.get(place.step) ?? null };
}

/** What its reports tell. */
export type AsBilled = Omit<WhatIf["asItWas"], "expected" | "each"> & {
  each: Omit<WhatIf["asItWas"]["each"][number], "expected">[];
};

/** Pure. */
export function planAsItWas(calls: readonly OwnCall[]): AsBilled {
  const answered = calls.filter(({ row }) => row.error === null);
  const tokens = answered.map(({ row }) => sentTokens(row));
  const costs = calls.flatMap(({ row }) => (row.cost === null ? [] : [row.cost]));
  const last = calls.at(-1)?.report;
  return {
    engine: last?.engine.ran ?? null,
    model: last?.model.resolved ?? null,
    contextWindow: last?.budget?.contextWindow ?? null,
    tokenRatio: last?.budget?.tokenRatio ?? 1,
    calls: calls.length,
    unanswered: calls.length - answered.length,
    tokens: {
      total: tokens.reduce((sum, one) => sum + one, 0),
      median: quantile(tokens, 0.5),
      max: Math.max(0, ...tokens),
    },
    each: calls.map(({ row: { id, tokens: sent, cost } }) => {
      return { id, tokens: sent.total, cost: cost && ownDollars(cost) };
    }),
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

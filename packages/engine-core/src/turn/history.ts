// Step 2 of a turn, in which the stored history is sanitised, limited and paired.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import type { PolicySideRecord } from "@clew/plugin-sdk/host";
import { isUserTurn, type TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { contextMessages, refreshContext } from "../session/session-state.ts";
import type { TurnRun } from "./turn-run.ts";

export interface History {
  /** What `assemble` is given: everything before this turn's prompt. */
  messages: readonly AgentMessage[];
  /** What the policy must find in the transcript the next time. */
  sideRecords: readonly PolicySideRecord[];
}

/** Reads the history and changes nothing; what the policy did to it is in the turn's report. */
export async function readHistory(run: TurnRun): Promise<History> {
  const { ports, settings, model, state, report } = run;
  const raw = messagesBefore(run);
  const sanitized = await ports.policy?.sanitizeHistory({
    messages: raw,
    model,
    branch: state.context?.branch ?? [],
  });
  const limited = limitHistory(sanitized?.messages ?? raw, settings.historyLimit);
  const paired = ports.policy?.repairPairing({ messages: limited, model });
  report.historyChanges.push(...(sanitized?.changes ?? []), ...(paired?.changes ?? []));
  return { messages: paired?.messages ?? limited, sideRecords: sanitized?.sideRecords ?? [] };
}

/** Appends what the policy must know of this history the next time. */
export async function storeSideRecords(run: TurnRun, { sideRecords }: History): Promise<void> {
  if (sideRecords.length === 0) return;
  await run.transcript.append(
    sideRecords.map((record) => ({ type: "custom" as const, ...record })),
  );
}

/** The stored messages before this turn's prompt; before the prompt is stored, all of them. */
function messagesBefore(run: TurnRun): readonly AgentMessage[] {
  const split = turnStart(run);
  return contextMessages(run.state, 0, split);
}

/** The stored messages of this turn, from the prompt on. */
export function messagesOfTurn(run: TurnRun): readonly AgentMessage[] {
  const split = turnStart(run);
  return contextMessages(run.state, split);
}

/** Index of the turn's first item in the context. */
function turnStart({ state, transcript, report }: TurnRun): number {
  const { items, branch } = refreshContext(state, transcript);
  const turnIds = turnEntryIds(branch, report.promptEntryId);
  // The turn is at the end: look back from there.
  let split = items.length;
  while (split > 0 && turnIds.has(items[split - 1]!.entryId)) split--;
  return split;
}

function turnEntryIds(
  branch: readonly TranscriptEntry[],
  promptEntryId: string | null,
): Set<string> {
  const ids = new Set<string>();
  if (promptEntryId === null) return ids;
  for (let index = branch.length - 1; index >= 0; index--) {
    const { id, type } = branch[index]!;
    // A summary made during the turn stands for what was before it.
    if (type !== "compaction") ids.add(id);
    if (id === promptEntryId) return ids;
  }
  // The prompt is no longer on the branch: nothing counts as this turn.
  return new Set();
}

/** The newest `limit` user turns, and any summary at the head; undefined = everything. */
function limitHistory(
  messages: readonly AgentMessage[],
  limit: number | undefined,
): readonly AgentMessage[] {
  if (limit === undefined) return messages;
  let turns = 0;
  for (let index = messages.length - 1; index >= 0; index--) {
    if (isUserTurn(messages[index]!) && ++turns === limit) {
      const head = messages[0]!;
      const summary = index > 0 && head.role === "compactionSummary" ? [head] : [];
      return index === 0 ? messages : [...summary, ...messages.slice(index)];
    }
  }
  return messages;
}

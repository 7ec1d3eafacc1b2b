// Step 2 of a turn: the stored history as engines get it: mended by the policy, limited, every tool call with its result.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { type ContextItem, isUserTurn } from "@clew/plugin-sdk/transcript";
import { refreshContext } from "./session-state.ts";
import type { TurnRun } from "./turn-run.ts";

/** Text a host injects for one run; engines and the stored history never see it (transcript policy R2b). */
const RUNTIME_CONTEXT = "openclaw.runtime-context";

export interface History {
  /** What `assemble` is given: everything before this turn's prompt. */
  messages: readonly AgentMessage[];
}

export async function prepareHistory(run: TurnRun): Promise<History> {
  const { ports, settings, model, state, report } = run;
  const raw = messagesBefore(run);
  const sanitized = await ports.policy?.sanitizeHistory({ messages: raw, model, branch: state.context?.branch ?? [] });
  if (sanitized !== undefined && sanitized.sideRecords.length > 0)
    await run.transcript.append(sanitized.sideRecords.map((record) => ({ type: "custom" as const, ...record })));
  const limited = limitHistory(sanitized?.messages ?? raw, settings.historyLimit);
  const paired = ports.policy?.repairPairing({ messages: limited, model });
  report.historyChanges.push(...(sanitized?.changes ?? []), ...(paired?.changes ?? []));
  return { messages: paired?.messages ?? limited };
}

/** The stored messages before this turn's prompt; before the prompt is stored, all of them. */
function messagesBefore(run: TurnRun): AgentMessage[] {
  const { items, split } = locateTurn(run);
  return items.slice(0, split).flatMap(toHistory);
}

/** The stored messages of this turn, from the prompt on. */
export function messagesOfTurn(run: TurnRun): AgentMessage[] {
  const { items, split } = locateTurn(run);
  return items.slice(split).flatMap(toHistory);
}

function locateTurn({ state, transcript, report }: TurnRun): { items: readonly ContextItem[]; split: number } {
  const { items, branch } = refreshContext(state, transcript);
  const turnIds = turnEntryIds(branch, report.promptEntryId);
  // The turn is at the end: look back from there.
  let split = items.length;
  while (split > 0 && turnIds.has(items[split - 1]!.entryId)) split--;
  return { items, split };
}

function turnEntryIds(branch: readonly { id: string }[], promptEntryId: string | null): Set<string> {
  const ids = new Set<string>();
  if (promptEntryId === null) return ids;
  for (let index = branch.length - 1; index >= 0; index--) {
    ids.add(branch[index]!.id);
    if (branch[index]!.id === promptEntryId) return ids;
  }
  // The prompt is no longer on the branch: nothing counts as this turn.
  return new Set();
}

const toHistory = ({ message }: ContextItem) => (message.role === "custom" && message.customType === RUNTIME_CONTEXT ? [] : [message]);

/** The newest `limit` user turns, and any summary at the head; undefined = everything. */
export function limitHistory(messages: readonly AgentMessage[], limit: number | undefined): readonly AgentMessage[] {
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

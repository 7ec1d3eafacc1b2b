// How many calls a session has had, and how much each of them adds.
import type { AgentMessage } from "./contract/message.ts";
import { createNotes } from "./notes.ts";
import { estimateMessage } from "./tokens/message.ts";
import { roleIn, type TranscriptEntry } from "./transcript/entries.ts";
import { capToolResults } from "./transcript/tool-result-caps.ts";

/** What a session's past says of its future. */
export interface SessionPace {
  /** Model calls that were answered. */
  calls: number;
  /** Tokens a call adds, estimated: the median of the newest ones; 0 = there was none yet. */
  growthTokens: number;
}

/** How many of a branch's calls are known, so that only what came since is looked at. */
export interface CallCount {
  /** Answered model calls. */
  readonly calls: number;
  /** Entries looked at. */
  readonly entries: number;
  /** The last of them; undefined = there was none. */
  readonly lastEntryId: string | undefined;
}

/** Newest calls whose growth counts. */
const RECENT_CALLS = 32;

/** The answered model calls of a branch; `before`, of the same branch when it was shorter. */
export function countCalls(branch: readonly TranscriptEntry[], before?: CallCount): CallCount {
  const goesOn =
    before !== undefined &&
    before.entries <= branch.length &&
    branch[before.entries - 1]?.id === before.lastEntryId;
  let calls = goesOn ? before.calls : 0;
  for (let index = goesOn ? before.entries : 0; index < branch.length; index++)
    if (roleIn(branch[index]) === "assistant") calls++;
  return { calls, entries: branch.length, lastEntryId: branch.at(-1)?.id };
}

/**
 * The median of what the newest calls added: the reply and all that came until the next one, long
 * tool results as a model of this window sees them. Looks at no more than those calls.
 */
export function growthPerCall(branch: readonly TranscriptEntry[], contextWindow: number): number {
  const grown: number[] = [];
  let sum = 0;
  for (let index = branch.length - 1; index >= 0 && grown.length < RECENT_CALLS; index--) {
    const message = messageOf(branch[index]);
    if (message === undefined) continue;
    sum += shownTokens(message, contextWindow);
    if (message.role !== "assistant") continue;
    grown.push(sum);
    sum = 0;
  }
  grown.sort((left, right) => left - right);
  return grown[Math.floor(grown.length / 2)] ?? 0;
}

/** What was last found of a message: each of a long turn's calls asks for the same ones again. */
const known = createNotes<AgentMessage, { contextWindow: number; tokens: number }>();

function shownTokens(message: AgentMessage, contextWindow: number): number {
  const found = known.get(message);
  if (found?.contextWindow === contextWindow) return found.tokens;
  const tokens = estimateMessage(capToolResults([message], contextWindow)[0]!).estimate;
  known.set(message, { contextWindow, tokens });
  return tokens;
}

const messageOf = (entry: TranscriptEntry | undefined): AgentMessage | undefined =>
  entry?.type === "message" ? entry.message : undefined;

// Decides whether a session's memory is flushed now (compaction spec §3.5).
import { estimateMessage } from "@clew/plugin-sdk/tokens";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import {
  type BegunFlush,
  type FlushHistory,
  firstUnseen,
  flushHistory,
  isSettled,
  isStored,
} from "./flush-history.ts";

/** Flushes that failed, or that a process died in, between two compactions. */
const MOST_ATTEMPTS = 2;
/** Soft thresholds that must be new before a compaction that failed is prepared for again. */
const GROWN = 4;

export interface FlushQuestion {
  /** Oldest first. */
  branch: readonly TranscriptEntry[];
  /** What began the turn, or the compaction. */
  kind: "user" | "heartbeat" | "cron";
  /** True: a compaction follows at once. */
  compacts: boolean;
  /** True: the engine decides for itself what it leaves out, and tells nobody. */
  ownsCompaction: boolean;
  /** Tokens of the messages that the last request held; null = not known. */
  messageTokens: number | null;
  /** At which of these the next compaction comes; null = not known. */
  compactsAt: number | null;
  /** Id of the flush that runs in this process; null = none does. */
  runningId: string | null;
  /** Of the file. */
  transcriptBytes: number;
  softThresholdTokens: number;
  /** 0 = never for that. */
  forceFlushTranscriptBytes: number;
}

export type FlushPlan =
  | {
      kind: "flush";
      /** Number of entries that it sees. */
      sees: number;
      /** Id of the flush that it makes up for; null = of none. */
      of: string | null;
    }
  | { kind: "not"; because: NotBecause };

/**
 * heartbeat: the session runs unattended · running: the one for this compaction · early: no
 * compaction is near · flushed: before this one already · given-up: it failed too often before this
 * one.
 */
export type NotBecause = "heartbeat" | "running" | "early" | "flushed" | "given-up";

/**
 * Pure. At most one flush that worked between two compactions. One that was begun before the last
 * compaction and never ended is made up for first: what it saw is still in the transcript.
 */
export function planFlush(question: FlushQuestion): FlushPlan {
  const { branch, kind, compacts, runningId } = question;
  if (kind === "heartbeat") return not("heartbeat");
  const history = flushHistory(branch);
  if (history.current.some(({ id }) => id === runningId)) return not("running");
  const owed = runningId === null ? owedOf(history) : null;
  if (owed !== null) return { kind: "flush", sees: owed.at, of: owed.id };
  const stored = history.current.find(isStored);
  if (stored !== undefined && !hasGrown(question, history, stored.at)) return not("flushed");
  const attempts = history.current.filter(
    ({ at, end }) => at > (stored?.at ?? -1) && end !== "aborted",
  );
  if (attempts.length >= MOST_ATTEMPTS) return not("given-up");
  if (!compacts && !isNear(question)) return not("early");
  return { kind: "flush", sees: branch.length, of: null };
}

const not = (because: NotBecause): FlushPlan => ({ kind: "not", because });

/** The oldest that a process died in, or that was stopped, before a compaction. */
function owedOf({ earlier, retries }: FlushHistory): BegunFlush | null {
  const owed = earlier.flatMap((cycle) => {
    const [newest] = cycle;
    if (newest === undefined || cycle.some(isSettled)) return [];
    const made = retries.filter(({ of }) => of === newest.id);
    const died = made.filter(({ end }) => end === null);
    return made.some(isSettled) || died.length >= MOST_ATTEMPTS ? [] : [newest];
  });
  return owed.at(-1) ?? null;
}

/**
 * What came since the flush was seen by none: of whoever compacts unseen as soon as it is as much
 * again, else once a compaction failed.
 */
function hasGrown(question: FlushQuestion, { missed }: FlushHistory, flushedAt: number): boolean {
  const { branch, ownsCompaction, compactsAt, softThresholdTokens } = question;
  const needed = ownsCompaction
    ? compactsAt === null
      ? Infinity
      : compactsAt - softThresholdTokens
    : missed.some((at) => at > flushedAt)
      ? GROWN * softThresholdTokens
      : Infinity;
  return needed !== Infinity && tokensAfter(branch, flushedAt) >= needed;
}

function isNear(question: FlushQuestion): boolean {
  const { branch, ownsCompaction, messageTokens, compactsAt, softThresholdTokens } = question;
  if (isLarge(question)) return true;
  if (compactsAt === null) return false;
  const tokens = ownsCompaction
    ? tokensAfter(branch, firstUnseen(branch) - 1)
    : (messageTokens ?? 0);
  return tokens >= compactsAt - softThresholdTokens;
}

/** The file never shrinks: of what was flushed before, its size tells nothing. */
const isLarge = ({ branch, transcriptBytes, forceFlushTranscriptBytes }: FlushQuestion) =>
  forceFlushTranscriptBytes > 0 &&
  transcriptBytes >= forceFlushTranscriptBytes &&
  firstUnseen(branch) === 0;

function tokensAfter(branch: readonly TranscriptEntry[], at: number): number {
  let tokens = 0;
  for (let next = at + 1; next < branch.length; next++) {
    const entry = branch[next]!;
    if (entry.type === "message") tokens += estimateMessage(entry.message).estimate;
  }
  return tokens;
}

// Decides whether a session's memory is flushed now (compaction spec §3.5).
import { estimateMessage } from "@clew/plugin-sdk/tokens";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import {
  type BegunFlush,
  type FlushHistory,
  firstUnseen,
  flushHistory,
  isNeverFlushed,
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
      /** Place of the first entry that none has seen. */
      from: number;
      /** Place before which it ends. */
      sees: number;
      /** The `id` of the flush that it makes up for; null = of none. */
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
 * Pure. At most one flush that worked between two compactions, of what none has seen. One that
 * was begun before the last compaction and never ended is made up for first: what it was to see
 * is still in the transcript.
 */
export function planFlush(question: FlushQuestion): FlushPlan {
  const { branch, kind, compacts, runningId } = question;
  if (kind === "heartbeat") return not("heartbeat");
  const history = flushHistory(branch);
  if (history.current.some(({ id }) => id === runningId)) return not("running");
  const unseen = firstUnseen(branch);
  const isUnseen = (before: number) => hasMessages(branch, unseen, before);
  if (!isUnseen(branch.length)) return not("flushed");
  const owed = runningId === null ? owedOf(history) : null;
  if (owed !== null && isUnseen(owed.at))
    return { kind: "flush", from: unseen, sees: owed.at, of: owed.id };
  const tokens = tokensFrom(branch, unseen);
  const stored = history.current.find(isStored);
  if (stored !== undefined && tokens < neededAfter(question, history, stored.at))
    return not("flushed");
  const attempts = history.current.filter(
    ({ at, end }) =>
      at > (stored?.at ?? -1) &&
      end !== "aborted" &&
      tokensFrom(branch, at + 1) < GROWN * question.softThresholdTokens,
  );
  if (attempts.length >= MOST_ATTEMPTS) return not("given-up");
  if (!compacts && !isNear(question, tokens)) return not("early");
  return { kind: "flush", from: unseen, sees: branch.length, of: null };
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
 * Tokens that none has seen, with which there is a flush again though one worked since the last
 * compaction: that one came for a compaction that failed, or long before one. The next flush sees
 * less than that.
 */
function neededAfter(question: FlushQuestion, { missed }: FlushHistory, flushedAt: number): number {
  const { ownsCompaction, compactsAt, softThresholdTokens } = question;
  if (ownsCompaction) return ownerNeeds(question);
  const grown = GROWN * softThresholdTokens;
  const half = compactsAt === null ? null : compactsAt / 2;
  if (missed.some((at) => at > flushedAt)) return Math.min(grown, half ?? Infinity);
  return half === null ? Infinity : Math.max(grown, half);
}

/** Half of what it may show at once: so nothing leaves its view unseen. */
const ownerNeeds = ({ compactsAt, softThresholdTokens }: FlushQuestion): number =>
  compactsAt === null ? Infinity : Math.max(0, compactsAt - softThresholdTokens) / 2;

function isNear(question: FlushQuestion, unseenTokens: number): boolean {
  const { ownsCompaction, messageTokens, compactsAt, softThresholdTokens } = question;
  if (isLarge(question)) return true;
  if (compactsAt === null) return false;
  return ownsCompaction
    ? unseenTokens >= ownerNeeds(question)
    : (messageTokens ?? 0) >= compactsAt - softThresholdTokens;
}

/** The file never shrinks: of what was flushed before, its size tells nothing. */
const isLarge = ({ branch, transcriptBytes, forceFlushTranscriptBytes }: FlushQuestion) =>
  forceFlushTranscriptBytes > 0 &&
  transcriptBytes >= forceFlushTranscriptBytes &&
  isNeverFlushed(branch);

function hasMessages(branch: readonly TranscriptEntry[], from: number, before: number): boolean {
  for (let at = from; at < before; at++) if (branch[at]!.type === "message") return true;
  return false;
}

function tokensFrom(branch: readonly TranscriptEntry[], from: number): number {
  let tokens = 0;
  for (let at = from; at < branch.length; at++) {
    const entry = branch[at]!;
    if (entry.type === "message") tokens += estimateMessage(entry.message).estimate;
  }
  return tokens;
}

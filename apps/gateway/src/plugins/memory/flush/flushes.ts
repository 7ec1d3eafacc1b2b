// Asks models to store what they should remember, once before each compaction.
import type { LogPort, TurnReport } from "@clew/engine-core";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import type { CompactableSession } from "../../../sessions/open.ts";
import { flushHistory } from "./flush-history.ts";
import { markEntry } from "./flush-marks.ts";
import type { FlushSettings } from "./flush-settings.ts";
import { type FlushQuestion, planFlush } from "./plan-flush.ts";

/** How a flush ended. */
export interface FlushOutcome {
  state: "done" | "nothing" | "failed" | "aborted";
  /** Names the newest entry that it saw, as marks do. Absent: all that it was given, or none. */
  upTo?: string;
  /** For people. Absent: there is nothing to say. */
  reason?: string;
}

/** A session whose memory may be flushed. */
export interface FlushSubject {
  transcript: CompactableSession;
  kind: FlushQuestion["kind"];
  ownsCompaction: boolean;
}

export interface FlushRequest extends FlushSubject {
  /** What none has seen, the oldest first: as it was when it began. */
  history: readonly TranscriptEntry[];
  settings: FlushSettings;
  signal: AbortSignal;
}

export interface FlushesOptions {
  log: LogPort;
  /** The chosen memory plugin's plan for this agent now; undefined: nothing is to be asked. */
  planOf(subject: FlushSubject): { plugin: string; settings: FlushSettings } | undefined;
  /** Why nothing could be stored, for the log; undefined: it could. */
  whyNot(subject: FlushSubject, settings: FlushSettings): Promise<string | undefined>;
  /** Runs it on a view of its own. Never rejects. */
  run(request: FlushRequest): Promise<FlushOutcome>;
  /** Of the session's file. */
  bytesOf(transcript: CompactableSession): Promise<number>;
  /** Does `work` when nothing else happens in the session, unless it moved elsewhere. */
  inSession(
    transcript: CompactableSession,
    work: (transcript: CompactableSession) => Promise<void>,
  ): Promise<void>;
}

/**
 * None of these rejects, and none waits for a model: a flush sees the session as it was when it
 * began, so neither the compaction nor the next message waits for it.
 */
export interface Flushes {
  /** Begins one where it is due; in the session's own queue. */
  afterTurn(subject: FlushSubject, report: TurnReport): Promise<void>;
  /** Begins one where there was none before this compaction. */
  beforeCompaction(subject: FlushSubject): Promise<void>;
  afterCompaction(subject: FlushSubject, compacted: boolean): Promise<void>;
  /** True while one runs. */
  isRunning(): boolean;
  /** None runs any more. */
  settled(): Promise<void>;
  /** Begins no more, and ends those that run when they had `graceMs`. */
  stop(graceMs?: number): Promise<void>;
}

type Size = Pick<FlushQuestion, "compacts" | "messageTokens" | "compactsAt">;

export function createFlushes(options: FlushesOptions): Flushes {
  const { log } = options;
  /** By session id; `id` is that of the mark with which it began. */
  const running = new Map<string, { id: string; ended: Promise<unknown> }>();
  const stopping = new AbortController();
  const { signal } = stopping;
  let isStopping = false;

  async function begin(subject: FlushSubject, size: Size): Promise<void> {
    const { transcript } = subject;
    const { sessionId, sessionKey } = transcript.session;
    const plan = options.planOf(subject);
    if (plan === undefined || isStopping) return;
    const { plugin, settings } = plan;
    const { softThresholdTokens, forceFlushTranscriptBytes } = settings;
    const transcriptBytes = await options.bytesOf(transcript);
    const branch = transcript.compaction.branch();
    const planned = planFlush({
      ...{ ...subject, ...size, branch, transcriptBytes },
      runningId: running.get(sessionId)?.id ?? null,
      ...{ softThresholdTokens, forceFlushTranscriptBytes },
    });
    if (planned.kind === "not" || (running.has(sessionId) && !size.compacts)) return;
    const whyNot = await options.whyNot(subject, settings);
    if (whyNot !== undefined) return log.info(`memory is not flushed: ${whyNot}`, { sessionKey });
    const begun = {
      state: "begun",
      plugin,
      ...(planned.of !== null && { of: planned.of }),
    } as const;
    const [mark] = await transcript.append([markEntry(begun)]);
    // While an earlier one runs, the mark says that this one is owed.
    if (running.has(sessionId)) return;
    const { id } = mark!;
    const history = branch.slice(planned.from, planned.sees);
    const ended = options
      .run({ ...subject, history, settings, signal })
      .then((outcome) => end(transcript, { plugin, of: id, outcome }))
      .finally(() => running.delete(sessionId));
    running.set(sessionId, { id, ended });
  }

  /** Some time later: whatever runs in the session then goes first. */
  const end = (transcript: CompactableSession, ended: EndedFlush) =>
    quietly(() =>
      options.inSession(transcript, async (now) => {
        const { plugin, of, outcome } = ended;
        await now.append([markEntry({ ...outcome, plugin, of })]);
        tell(log, transcript.session.sessionKey, ended);
      }),
    );
  const quietly = async (work: () => Promise<void>) => {
    try {
      await work();
    } catch (error) {
      if (!signal.aborted)
        log.warn(`a memory flush could not be noted: ${(error as Error).message}`);
    }
  };

  const settled = async () => {
    await Promise.allSettled([...running.values()].map(({ ended }) => ended));
  };

  return {
    afterTurn: (subject, report) => quietly(() => begin(subject, sizeIn(report))),
    beforeCompaction: (subject) => quietly(() => begin(subject, BEFORE_COMPACTION)),
    afterCompaction: ({ transcript, ownsCompaction }, compacted) =>
      quietly(async () => {
        const { current } = flushHistory(transcript.compaction.branch());
        // The host's own compaction stands in the transcript itself.
        if (current.length === 0 || (compacted && !ownsCompaction)) return;
        await transcript.append([markEntry({ state: compacted ? "compacted" : "not-compacted" })]);
      }),
    isRunning: () => running.size > 0,
    settled,
    async stop(graceMs = 0) {
      isStopping = true;
      const timer = setTimeout(() => stopping.abort(), graceMs);
      await settled().finally(() => clearTimeout(timer));
    },
  };
}

const BEFORE_COMPACTION: Size = { compacts: true, messageTokens: null, compactsAt: null };

interface EndedFlush {
  plugin: string;
  /** Id of the mark with which it began. */
  of: string;
  outcome: FlushOutcome;
}

function tell(log: LogPort, sessionKey: string, { plugin, outcome }: EndedFlush): void {
  const { state, reason } = outcome;
  const why = reason === undefined ? "" : `: ${reason}`;
  const level = state === "failed" ? "warn" : "info";
  log[level](`memory flush by plugin "${plugin}": ${SAID[state]}${why}`, { sessionKey });
}

const SAID = {
  done: "stored before the compaction",
  nothing: "there was nothing to store",
  failed: "failed; the compaction went on without",
  aborted: "stopped",
} satisfies Record<FlushOutcome["state"], string>;

/** What the turn's last request tells of the compaction to come. */
function sizeIn({ modelCalls, budget, compactions }: TurnReport): Size {
  const last = modelCalls.findLast(({ size }) => size !== undefined);
  const compactsAt = last?.size?.water.high ?? null;
  // What the requests of a turn held that compacted, the next one does not.
  if (last?.size === undefined || compactions.some(({ compacted }) => compacted))
    return { compacts: false, messageTokens: null, compactsAt };
  const output = last.usage?.output ?? 0;
  const messageTokens = last.size.tokens - (budget?.fixedTokens ?? 0) + output;
  return { compacts: false, messageTokens, compactsAt };
}

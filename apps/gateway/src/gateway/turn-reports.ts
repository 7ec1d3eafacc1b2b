// Stores the reports of each conversation in the log of its transcript.
import type { LogPort, TurnReport, TurnResult, TurnSoFar } from "@clew/engine-core";
import { type ModelRef, stepsInSlices } from "@clew/plugin-sdk/host";
import { contextSteps, type TranscriptEntry } from "@clew/plugin-sdk/transcript";
import type { TurnUnderWay } from "../inspect/session-source.ts";
import { createPartSweeper } from "../reports/part-sweeper.ts";
import { openReportLog, type ReportLog, readLastRequest } from "../reports/report-log.ts";
import { countOf, type RequestCount } from "../reports/request-count.ts";
import type { Conversation } from "../sessions/conversations.ts";
import { agentPaths } from "../sessions/paths.ts";

export interface TurnReports {
  /** One that cannot be stored is logged: it must not cost the reply, which is stored already. */
  store(
    conversation: Conversation,
    result: Pick<TurnResult, "report"> & Partial<Pick<TurnResult, "parts">>,
  ): Promise<void>;
  /**
   * Finds out which turn the next one is; not knowing it costs only the names of its calls.
   * `goesOnFrom`: entry of the branch with which it began already. Absent: it begins behind all.
   */
  countTurns(conversation: Conversation, goesOnFrom?: string): Promise<void>;
  /** A turn begins, of which `soFar` tells until it is stored. */
  begin(conversation: Conversation, soFar: () => TurnSoFar): void;
  /** The turn under way in a transcript; undefined = none is, or nobody knows which it is. */
  underWay(sessionId: string): TurnUnderWay | undefined;
  /** The ordinal of the turn under way; undefined = not known. */
  turnNow(conversation: Conversation): number | undefined;
  /** Tells a conversation that was just opened what `model` counted for its last request. */
  recallCount(conversation: Conversation, model: ModelRef): Promise<void>;
  /** The conversation ends, or moves to another transcript. */
  close(conversation: Conversation): Promise<void>;
  /** A session of this agent was deleted, with its reports. */
  deleted(agentId: string): void;
  /** Resolves when nothing is done to reports any more, but for those of open conversations. */
  end(): Promise<void>;
}

/** Reports name entries; the messages of one that was stored again keep the id of the first. */
async function withMessageIds(
  count: RequestCount,
  branch: readonly TranscriptEntry[],
): Promise<RequestCount> {
  const { items } = await stepsInSlices(contextSteps(branch));
  const ids = new Map(items.map(({ entryId, id }) => [entryId, id]));
  return { ...count, ids: count.ids.map((id) => (id === undefined ? id : (ids.get(id) ?? id))) };
}

export function createTurnReports({
  home,
  log,
  maxBytes,
  onReport,
}: {
  home: string;
  log: LogPort;
  /** Told of each report before it is stored. */
  onReport: (report: TurnReport) => void;
  /** Of one session's reports. */
  maxBytes: number;
}): TurnReports {
  const sweeper = createPartSweeper({ log });
  const logs = new WeakMap<Conversation, ReportLog>();
  const turns = new WeakMap<Conversation, number>();
  const begun = new Map<Conversation, () => TurnSoFar>();
  const logOf = (conversation: Conversation) => {
    const { agentId, sessionId } = conversation.session.session;
    const known =
      logs.get(conversation) ??
      openReportLog(agentPaths(home, agentId).reports, sessionId, { maxBytes });
    logs.set(conversation, known);
    return known;
  };
  return {
    async store(conversation, { report, parts = {} }) {
      onReport(report);
      try {
        const stored = await conversation.session.keepReport?.(report, parts);
        await logOf(conversation).append(stored ?? report, parts);
      } catch (error) {
        log.warn(`turn report not stored: ${(error as Error).message}`);
      } finally {
        begun.delete(conversation);
      }
    },
    begin(conversation, soFar) {
      begun.set(conversation, soFar);
    },
    underWay(sessionId) {
      for (const [conversation, soFar] of begun) {
        const turn = turns.get(conversation);
        if (turn === undefined || conversation.session.session.sessionId !== sessionId) continue;
        return { turn, ...soFar() };
      }
      return undefined;
    },
    async countTurns(conversation, goesOnFrom) {
      turns.delete(conversation);
      begun.delete(conversation);
      const branch = conversation.session.branch();
      const at = branch.findIndex(({ id }) => id === goesOnFrom);
      const next = await logOf(conversation)
        .nextTurn(at < 0 ? branch : branch.slice(0, at))
        .catch(() => undefined);
      if (next !== undefined) turns.set(conversation, next);
    },
    turnNow: (conversation) => turns.get(conversation),
    async recallCount({ session, state }, model) {
      const { agentId, sessionId } = session.session;
      const { reports } = agentPaths(home, agentId);
      // A report that cannot be read costs the count, and then the size is an estimate.
      const last = await readLastRequest(reports, sessionId).catch(() => null);
      const branch = session.branch();
      const count = last === null ? undefined : countOf(last, { branch, model });
      state.measurement = count && (await withMessageIds(count, branch));
    },
    async close(conversation) {
      const known = logs.get(conversation);
      logs.delete(conversation);
      // Its transcript may be another one from here on.
      turns.delete(conversation);
      begun.delete(conversation);
      await known?.close();
    },
    deleted: (agentId) => sweeper.deleted(agentPaths(home, agentId).reports),
    end: () => sweeper.close(),
  };
}

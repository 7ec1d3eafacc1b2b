// One session that PostgreSQL keeps, with a copy of it in a file of this gateway.
import type { DeliveryLedger, ReportParts, TranscriptStep, TurnReport } from "@clew/engine-core";
import type {
  NewTranscriptEntry,
  TranscriptEntry,
  TranscriptHeader,
} from "@clew/plugin-sdk/transcript";
import type { LogStep, SessionLog } from "@clew/store-postgres";
import { toJson } from "../../own-json.ts";
import { keepEntry } from "../../sessions/kept-entry.ts";
import {
  type CompactableBranch,
  movedError,
  type OpenSession,
  placeEntries,
} from "../../sessions/open.ts";
import { oneAtATime } from "../../sessions/queues.ts";
import { planRewrite } from "../../sessions/rewrite.ts";
import type { SharedWaiting } from "../../waiting/waiting-store.ts";
import type { KeptNotices } from "./kept-notices.ts";
import type { engineOfHome } from "./ports.ts";

export interface StoredSessionParts {
  /** What was claimed. */
  log: SessionLog<DeliveryLedger>;
  /** Its copy, open, and up to date. */
  copy: OpenSession;
  header: TranscriptHeader;
  ofHome: ReturnType<typeof engineOfHome>;
  /** Messages that wait, and go with the step that says them. */
  inbox: Pick<SharedWaiting, "holds" | "letGo">;
  /** What could not be put where it belongs, and its turn tells. */
  kept: Pick<KeptNotices, "take">;
  now?: (() => number) | undefined;
  /** The copy may not say any more what is stored. */
  onBroken(): void;
}

/** The database first: what is in the copy is stored. */
export function storedSession(parts: StoredSessionParts): OpenSession {
  const { log, copy, header, ofHome, inbox, now = Date.now } = parts;
  const { sessionKey } = log.session;
  const { branch, nextId } = copy.compaction;
  const inTurn = oneAtATime();
  let isBroken = false;
  /** Of the turn that was under way at its opening. */
  let cutBy = log.openTurn;
  /** As core stored it with the end of its turn. */
  let reported: TurnReport | undefined;
  let closing: Promise<void> | undefined;

  async function store(
    given: readonly TranscriptEntry[],
    { keep, ...more }: Partial<LogStep<never>> & { keep?: number } = {},
  ): Promise<readonly TranscriptEntry[]> {
    // As files have them, so that every copy says the same as the database.
    const entries = given.map(keepEntry);
    const before = branch();
    const leafId = before.at(-1)?.id ?? null;
    const follows = keep === undefined ? undefined : { keep, leafId: before[keep - 1]?.id ?? null };
    const said = namesIn(entries).filter((name) => inbox.holds(sessionKey, name));
    try {
      const step = { entries, deliveries: [], report: null, ...more, follows, said };
      await log.store({ ...step, header: toJson(header) });
      if (said.length > 0) inbox.letGo(sessionKey, said);
      if (entries.length > 0 || keep !== undefined)
        await copy.compaction.graft({ keep: keep ?? before.length, leafId, entries });
    } catch (error) {
      isBroken = true;
      parts.onBroken();
      throw error;
    }
    return entries.length === 0 ? [] : branch().slice(-entries.length);
  }
  const placed = (added: readonly NewTranscriptEntry[]) => {
    const leafId = () => branch().at(-1)?.id ?? null;
    return placeEntries(added, { leafId, nextId }, new Date(now()).toISOString());
  };
  const append = (added: readonly NewTranscriptEntry[]) =>
    inTurn(async () => (added.length === 0 ? [] : store(placed(added))));
  const appendStep = ({ entries, deliveries, report }: TranscriptStep) =>
    inTurn(async () => {
      if (entries.length === 0 && deliveries.length === 0 && report === null) return [];
      const lines = deliveries.map(({ engineId, change }) => ({
        ...{ engineId: ofHome.name(engineId), change },
      }));
      const kept = await store(placed(entries), {
        ...{ deliveries: lines as never, report, isOfTurn: true },
      });
      if (report !== null) reported = report.report;
      cutBy = null;
      return kept;
    });
  const compaction: CompactableBranch = {
    ...copy.compaction,
    append,
    graft: ({ keep, leafId, entries }) =>
      inTurn(async () => {
        if ((branch().at(-1)?.id ?? null) !== leafId) throw movedError(log.session);
        await store(entries, { keep });
      }),
  };
  return {
    ...copy,
    ...{ deliveries: log.deliveries, append, appendStep, compaction },
    rewrite: (request) =>
      inTurn(async () => {
        const plan = planRewrite({ branch: branch(), request, nextId });
        if (plan.kind !== "append") return plan.result;
        await store(plan.entries, { keep: plan.kept });
        return { ...plan.result, remapped: plan.remapped };
      }),
    keepReport: (report: TurnReport, named: ReportParts) =>
      inTurn(async () => {
        const isStored = reported?.turnId === report.turnId;
        if (!isStored) await store([], { report: { report, parts: named } });
        const told = withNotices(report, parts.kept.take(sessionKey));
        if (!isSame(isStored ? reported : report, told)) await log.amendReport(told);
        reported = told;
        return told;
      }),
    cutTurn: () =>
      cutBy === null
        ? null
        : {
            entryId: cutBy,
            tryAgain: () => inTurn(() => log.tryTurn()),
            end: () =>
              inTurn(async () => {
                cutBy = null;
                await store([], { endsTurn: true });
              }),
          },
    moved: () => (isBroken ? "unsure" : copy.moved()),
    close() {
      closing ??= inTurn(async () => {
        if (copy.moved() !== null) parts.onBroken();
        await copy.close().finally(log.close);
      });
      return closing;
    },
  };
}

/** Whoever has nothing to add may have made another one of it. */
const isSame = (stored: TurnReport | undefined, told: TurnReport): boolean =>
  stored === told || toJson(stored) === toJson(told);

/** The same report where there are none. */
const withNotices = (report: TurnReport, texts: readonly string[]): TurnReport =>
  texts.length === 0 ? report : { ...report, notices: [...(report.notices ?? []), ...texts] };

/** What people said in it under a name. */
const namesIn = (entries: readonly TranscriptEntry[]): string[] =>
  entries.flatMap((entry) =>
    entry.type === "message" && entry.message.role === "user"
      ? (entry.message.idempotencyKey ?? [])
      : [],
  );

// One session of the database, open for writing, as a host's lifecycle asks for it.
import {
  ContextEngineError,
  type TranscriptRewriteRequest,
  type TranscriptRewriteResult,
} from "@clew/plugin-sdk/core";
import {
  type NewTranscriptEntry,
  placeEntry,
  type TranscriptEntry,
} from "@clew/plugin-sdk/transcript";
import { type BranchPart, type HeldBranch, holdBranch } from "./held-branch.ts";
import type { Ledger, LineOf, StoredSession, StoredStep } from "./ports.ts";
import { readLines } from "./read.ts";
import { type LogOptions, type LogStep, NOTHING, openLog } from "./session-log.ts";

/**
 * Fits engine-core's `TranscriptPort`. What comes after somebody else took the session is refused
 * with SESSION_LOCKED. After a STORAGE_FAILED nobody knows what of the last step is stored: open
 * the session again.
 */
export interface PostgresTranscript<Kept extends Ledger> {
  /** Which session this is. */
  readonly session: StoredSession;
  /** What each engine has acknowledged. */
  readonly deliveries: Kept;
  /** Id of the entry with which a turn began that had not ended when it was opened; null: none. */
  readonly openTurn: string | null;
  /** True when it holds an entry. */
  exists(): boolean;
  /** Entries of the active branch, the same objects at every call; null: `after` is not there. */
  read(part: BranchPart): Promise<readonly TranscriptEntry[] | null>;
  /** Appends after the leaf; resolves when the entries are durable. */
  append(entries: readonly NewTranscriptEntry[]): Promise<readonly TranscriptEntry[]>;
  /** The same with what belongs to it, all or nothing, in one round trip. */
  appendStep(step: StoredStep<LineOf<Kept>>): Promise<readonly TranscriptEntry[]>;
  /** Replaces messages by appending the suffix of the branch again. */
  rewrite(
    request: TranscriptRewriteRequest,
  ): Promise<TranscriptRewriteResult & { remapped?: ReadonlyMap<string, string> }>;
  /**
   * Lets complete `entries` follow the first `keep` of the branch. Throws TRANSCRIPT_MOVED when the
   * branch no longer ends at `leafId`.
   */
  graft(request: {
    keep: number;
    leafId: string | null;
    entries: readonly TranscriptEntry[];
  }): Promise<void>;
  /** After what is under way, gives the session up; what comes then is refused: SESSION_CLOSED. */
  close(): Promise<void>;
}

export interface TranscriptOptions<Kept extends Ledger> extends LogOptions<Kept> {
  /** The newest entries of the branch, as many as were read with the claim. */
  newest: readonly string[];
  now(): number;
}

export function openTranscript<Kept extends Ledger>(
  options: TranscriptOptions<Kept>,
): PostgresTranscript<Kept> {
  const { database, row } = options;
  const log = openLog(options);
  const { session, deliveries, enqueue } = log;
  const held: HeldBranch = holdBranch({
    ranges: log.ranges,
    newest: options.newest.map(parse),
    fetch: async (ranges) => (await readLines(database, session, ranges)).map(parse),
  });

  /** Stores all of it or nothing, and counts it then. */
  async function store(step: Partial<LogStep<LineOf<Kept>>>): Promise<readonly TranscriptEntry[]> {
    const kept = (await log.storeNow({ ...NOTHING, ...step })).map(parse);
    held.take(kept, step.follows?.keep);
    return kept;
  }
  const whole = async () => (await held.read({ after: null })) ?? [];
  /** Behind the first entries of the branch; to be asked once all of it is held. */
  const behind = (branch: readonly TranscriptEntry[], keep: number) => ({
    follows: { keep, leafId: branch[keep - 1]?.id ?? null },
  });
  function placed(added: readonly NewTranscriptEntry[]): TranscriptEntry[] {
    const timestamp = new Date(options.now()).toISOString();
    let parentId = log.leaf();
    return added.map((entry) => {
      const place = { id: crypto.randomUUID() as string, parentId, timestamp };
      parentId = place.id;
      return placeEntry(entry, place);
    });
  }

  return {
    ...{ session, deliveries, openTurn: row.turn },
    exists: () => held.count() > 0,
    read: (part) => held.read(part),
    append: (added) =>
      enqueue(async () => (added.length === 0 ? [] : store({ entries: placed(added) }))),
    appendStep: ({ entries, deliveries: lines, report }) =>
      enqueue(async () => {
        if (entries.length === 0 && lines.length === 0 && report === null) return [];
        return store({ entries: placed(entries), deliveries: lines, report, isOfTurn: true });
      }),
    rewrite: (request) =>
      enqueue(async () => {
        const branch = await whole();
        const nextId = () => crypto.randomUUID();
        const plan = options.ports.planRewrite({ branch, request, nextId });
        if (plan.kind === "nothing") return plan.result;
        await store({ entries: plan.entries, ...behind(branch, plan.kept) });
        return { ...plan.result, remapped: plan.remapped };
      }),
    graft: ({ keep, leafId, entries }) =>
      enqueue(async () => {
        if (log.leaf() !== leafId) throw notItsLeaf(session);
        await store({ entries, ...behind(await whole(), keep) });
      }),
    close: log.close,
  };
}

const parse = (line: string) => JSON.parse(line) as TranscriptEntry;

const notItsLeaf = ({ sessionKey }: StoredSession) =>
  new ContextEngineError(
    "TRANSCRIPT_MOVED",
    `The session ${sessionKey} went on meanwhile, and nothing was stored; look at it again.`,
  );

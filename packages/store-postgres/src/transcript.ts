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
import { closed, firstOf, followedFrom, type OpenRange } from "./branch.ts";
import type { Database } from "./database.ts";
import { type BranchPart, type HeldBranch, holdBranch } from "./held-branch.ts";
import { leaseOf, release, type SessionRow } from "./lease.ts";
import { oneAtATime } from "./one-at-a-time.ts";
import { readLines } from "./read.ts";
import { type StepRows, storeStep } from "./step.ts";

/** A change of what an engine acknowledged, and whose it is; kept as it is given. */
export interface DeliveryLine {
  /** The engine of the record. */
  engineId: string;
  /** What is new in it: plain data. */
  change: { kind: string };
}

/** What is stored together; as engine-core's `TranscriptStep`. */
export interface StoredStep<Line extends DeliveryLine = DeliveryLine> {
  /** Placed after the leaf. */
  entries: readonly NewTranscriptEntry[];
  /** What engines acknowledged or refused, in order. */
  deliveries: readonly Line[];
  /** Of the turn that ends with this step; null = none does. */
  report: { report: { turnId: string }; parts: Readonly<Record<string, string>> } | null;
}

/** Keeps what engines acknowledged, in memory; engine-core's `DeliveryLedger` is one. */
export interface Ledger {
  /** Counts changes that are stored. */
  take(lines: readonly DeliveryLine[]): void;
}

/** The changes that a ledger takes. */
export type LineOf<Kept extends Ledger> = Parameters<Kept["take"]>[0][number];

/** What a store needs of its siblings. */
export interface StorePorts<Kept extends Ledger> {
  /** A ledger with these changes, which calls `write` before it counts another. */
  createLedger(options: {
    earlier: readonly LineOf<Kept>[];
    write(engineId: string, change: LineOf<Kept>["change"]): Promise<void>;
  }): Kept;
  /** Which entries a rewrite appends again, and where; throws what forbids it. */
  planRewrite(input: {
    branch: readonly TranscriptEntry[];
    request: TranscriptRewriteRequest;
    nextId(): string;
  }): RewritePlan;
}

/** What a rewrite comes to. */
export type RewritePlan =
  | { kind: "nothing"; result: TranscriptRewriteResult }
  | {
      kind: "append";
      /** Entries of the branch that stay, counted from the root. */
      kept: number;
      /** Complete ones, which follow these. */
      entries: readonly TranscriptEntry[];
      /** New id of each entry that is appended again. */
      remapped: ReadonlyMap<string, string>;
      result: TranscriptRewriteResult;
    };

/** The session as ports know it; it is in no file. */
export interface StoredSession {
  /** Whose session it is. */
  agentId: string;
  /** Its current transcript. */
  sessionId: string;
  /** Its stable name. */
  sessionKey: string;
}

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

export interface TranscriptOptions<Kept extends Ledger> {
  database: Database;
  ports: StorePorts<Kept>;
  nodeId: string;
  row: SessionRow;
  /** Its name for the host, while the row has a passing one. */
  sessionKey: string;
  /** The newest entries of the branch, as many as were read with the claim. */
  newest: readonly string[];
  deliveries: readonly LineOf<Kept>[];
  now(): number;
  /** Somebody else has it, or it was closed. */
  onEnd(): void;
}

/** Kept as a hint that a part is stored; more is not worth its memory. */
const KNOWN_PARTS = 10_000;

export function openTranscript<Kept extends Ledger>(
  options: TranscriptOptions<Kept>,
): PostgresTranscript<Kept> {
  const { database, ports, row } = options;
  const lease = leaseOf(row);
  const session = { agentId: row.agent_id, sessionId: row.id, sessionKey: options.sessionKey };
  const inTurn = oneAtATime();
  const knownParts = new Set<string>();
  const held: HeldBranch = holdBranch({
    ranges: closed(row.branch, row.head_seq),
    newest: options.newest.map(parse),
    fetch: async (ranges) => (await readLines(database, lease, ranges)).map(parse),
  });
  let { head_seq: head, last_entry: leaf, step: at } = row;
  let branch: readonly OpenRange[] = row.branch;
  let ended: ContextEngineError | undefined;
  let closing: Promise<void> | undefined;

  const deliveries = ports.createLedger({
    earlier: options.deliveries,
    write: (engineId, change) =>
      enqueue(async () => void (await store({ deliveries: [{ engineId, change }] }))),
  });

  const enqueue = <Result>(work: () => Promise<Result>): Promise<Result> =>
    inTurn(async () => {
      if (ended !== undefined) throw ended;
      return work();
    });

  /** Stores all of it or nothing, and counts it then. */
  async function store({
    entries = [],
    keep,
    deliveries: lines = [],
    report = null,
    turn = null,
  }: {
    entries?: readonly TranscriptEntry[];
    /** They follow this many entries of the branch. Absent: all. */
    keep?: number;
  } & Partial<Pick<StepRows, "turn">> &
    Partial<Omit<StoredStep, "entries">>): Promise<readonly TranscriptEntry[]> {
    const rows: StepRows = {
      entries: entries.map((entry) => rowOf(entry)),
      deliveries: lines.map(({ engineId, change }) => ({ engineId, change: stringify(change) })),
      report: report && {
        turn: report.report.turnId,
        body: stringify(report.report),
        parts: Object.entries(report.parts).filter(([hash]) => !knownParts.has(hash)),
      },
      branch: keep === undefined ? null : branchAfter(keep),
      leaf: entries.at(-1)?.id ?? (keep === undefined ? null : await idAt(keep - 1)),
      turn,
    };
    const kept = rows.entries.map(({ body }) => parse(body));
    const outcome = await storeStep(database, {
      ...{ lease, at, token: crypto.randomUUID(), rows },
    }).catch((error: unknown) => {
      throw end(unknown(session, error));
    });
    if (outcome !== "stored") throw end(outcome === "fenced" ? taken(session) : moved(session));
    at += 1;
    head += kept.length;
    branch = rows.branch ?? branch;
    held.take(kept, keep);
    if (rows.leaf !== null) leaf = rows.leaf === "" ? null : rows.leaf;
    if (knownParts.size > KNOWN_PARTS) knownParts.clear();
    for (const [hash] of rows.report?.parts ?? []) knownParts.add(hash);
    return kept;
  }

  function branchAfter(keep: number): readonly OpenRange[] {
    return followedFrom(firstOf(closed(branch, head), keep), head);
  }
  /** "" = there is none. */
  async function idAt(index: number): Promise<string> {
    return (await held.read({ after: null }))?.[index]?.id ?? "";
  }
  function end(error: ContextEngineError): ContextEngineError {
    ended ??= error;
    options.onEnd();
    return error;
  }
  function placed(added: readonly NewTranscriptEntry[]): TranscriptEntry[] {
    const timestamp = new Date(options.now()).toISOString();
    let parentId = leaf;
    return added.map((entry) => {
      const place = { id: crypto.randomUUID() as string, parentId, timestamp };
      parentId = place.id;
      return placeEntry(entry, place);
    });
  }

  const appendStep = ({ entries, deliveries: lines, report }: StoredStep<LineOf<Kept>>) =>
    enqueue(async () => {
      if (entries.length === 0 && lines.length === 0 && report === null) return [];
      const fresh = placed(entries);
      const turn = report === null ? beginOf(fresh) : "";
      const kept = await store({ entries: fresh, deliveries: lines, report, turn });
      deliveries.take(lines);
      return kept;
    });

  return {
    ...{ session, deliveries, appendStep, openTurn: row.turn },
    exists: () => held.count() > 0,
    read: (part) => held.read(part),
    append: (added) =>
      enqueue(async () => (added.length === 0 ? [] : store({ entries: placed(added) }))),
    rewrite: (request) =>
      enqueue(async () => {
        const whole = (await held.read({ after: null })) ?? [];
        const nextId = () => crypto.randomUUID();
        const plan = ports.planRewrite({ branch: whole, request, nextId });
        if (plan.kind === "nothing") return plan.result;
        await store({ entries: plan.entries, keep: plan.kept });
        return { ...plan.result, remapped: plan.remapped };
      }),
    graft: ({ keep, leafId, entries }) =>
      enqueue(async () => {
        if (leaf !== leafId) throw notItsLeaf(session);
        await held.read({ after: null });
        await store({ entries, keep });
      }),
    close() {
      closing ??= inTurn(async () => {
        try {
          if (ended === undefined) await release(database, lease, options.nodeId);
        } finally {
          end(closedError(session));
        }
      });
      return closing;
    },
  };
}

/** Such a step may begin a turn, or go on with one: the first to say something began it. */
const beginOf = (entries: readonly TranscriptEntry[]): string | null =>
  entries.find((entry) => entry.type === "message" && entry.message.role === "user")?.id ?? null;

const parse = (line: string) => JSON.parse(line) as TranscriptEntry;
const stringify = (value: unknown): string => JSON.stringify(value);

const ROLES = ["", "user", "assistant", "toolResult"];

function rowOf(entry: TranscriptEntry) {
  const role = entry.type === "message" ? ROLES.indexOf(entry.message.role) : 0;
  const ts = Date.parse(entry.timestamp);
  return {
    id: entry.id,
    role: role < 0 ? ROLES.length : role,
    ts: Number.isNaN(ts) ? 0 : ts,
    body: stringify(entry),
  };
}

const taken = ({ sessionKey }: StoredSession) =>
  new ContextEngineError(
    "SESSION_LOCKED",
    `The session ${sessionKey} is another gateway's by now, and nothing was stored; ask again.`,
  );

const moved = ({ sessionKey }: StoredSession) =>
  new ContextEngineError(
    "TRANSCRIPT_MOVED",
    `Somebody else wrote to the session ${sessionKey} in this gateway's name, and nothing was stored; open it again.`,
  );

const notItsLeaf = ({ sessionKey }: StoredSession) =>
  new ContextEngineError(
    "TRANSCRIPT_MOVED",
    `The session ${sessionKey} went on meanwhile, and nothing was stored; look at it again.`,
  );

const unknown = ({ sessionKey }: StoredSession, cause: unknown) =>
  new ContextEngineError(
    "STORAGE_FAILED",
    `PostgreSQL did not say whether it stored a step of the session ${sessionKey}; open it again to see.`,
    { cause },
  );

const closedError = ({ sessionKey }: StoredSession) =>
  new ContextEngineError("SESSION_CLOSED", `The session ${sessionKey} was closed.`);

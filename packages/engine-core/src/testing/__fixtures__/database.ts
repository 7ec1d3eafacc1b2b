// A store that is one database: what belongs to a step of a turn is one transaction.
import { randomUUID } from "node:crypto";
import { DatabaseSync } from "node:sqlite";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import {
  activeBranch,
  moveReferences,
  type NewTranscriptEntry,
  originsOf,
  placeEntry,
  type TranscriptEntry,
  withOrigin,
} from "@clew/plugin-sdk/transcript";
import {
  createDeliveryLedger,
  type DeliveryLedger,
  type DeliveryLine,
  partOfBranch,
  type TranscriptStep,
} from "../../index.ts";
import type { OpenedTranscript } from "../store-under-test.ts";

const SCHEMA = `
  create table if not exists entry (seq integer primary key, session text, body text not null);
  create table if not exists delivery (seq integer primary key, session text, body text not null);
  create table if not exists report (turn text primary key, session text, body text not null);
  create table if not exists current (session_key text primary key, session text not null);
`;
const KEY = "agent:main:main";

export interface DatabaseTranscript extends OpenedTranscript {
  readonly deliveries: DeliveryLedger;
  /** Turns whose reports are stored, oldest first. */
  reports(): string[];
  /** Moves the session to another transcript, opened in the same database. */
  moveTo(sessionId: string): void;
  at(sessionId: string): DatabaseTranscript;
}

/** Opens the session that the file holds; the database is the lock. */
export function openDatabase(file: string): DatabaseTranscript {
  const database = new DatabaseSync(file, { timeout: 50 });
  try {
    database.exec("pragma locking_mode = exclusive; pragma synchronous = full; begin immediate;");
    database.exec(`${SCHEMA}; commit;`);
  } catch (error) {
    database.close();
    throw new ContextEngineError("SESSION_LOCKED", `${file} is open elsewhere.`, { cause: error });
  }
  const current = database.prepare("select session from current where session_key = ?").get(KEY);
  return transcriptIn(database, String(current?.session ?? "session-1"));
}

function transcriptIn(database: DatabaseSync, sessionId: string): DatabaseTranscript {
  const bodies = <Row>(table: "entry" | "delivery") =>
    database
      .prepare(`select body from ${table} where session = ? order by seq`)
      .all(sessionId)
      .map(({ body }) => JSON.parse(String(body)) as Row);
  const insert = (table: "entry" | "delivery", value: unknown) =>
    database
      .prepare(`insert into ${table} (session, body) values (?, ?)`)
      .run(sessionId, JSON.stringify(value));

  let branch = activeBranch(bodies<TranscriptEntry>("entry"));
  let isClosed = false;
  const ledger = createDeliveryLedger({
    earlier: bodies<DeliveryLine>("delivery"),
    write: async (engineId, change) => store([], { deliveries: [{ engineId, change }] }),
  });

  function store(
    entries: readonly TranscriptEntry[],
    {
      deliveries,
      report = null,
    }: Omit<TranscriptStep, "entries" | "report"> & Partial<TranscriptStep>,
  ): void {
    if (isClosed) throw new ContextEngineError("SESSION_CLOSED", "The session was closed.");
    database.exec("begin immediate");
    try {
      for (const entry of entries) insert("entry", entry);
      for (const line of deliveries) insert("delivery", line);
      if (report !== null)
        database
          .prepare("insert into report (turn, session, body) values (?, ?, ?)")
          .run(report.report.turnId, sessionId, JSON.stringify(report));
      database.exec("commit");
    } catch (error) {
      database.exec("rollback");
      throw error;
    }
  }
  function placed(added: readonly NewTranscriptEntry[]): TranscriptEntry[] {
    let parentId = branch.at(-1)?.id ?? null;
    return added.map((entry) => {
      const place = { id: randomUUID(), parentId, timestamp: new Date().toISOString() };
      parentId = place.id;
      return placeEntry(entry, place);
    });
  }
  async function appendStep({ entries, deliveries, report }: TranscriptStep) {
    const fresh = placed(entries);
    store(fresh, { deliveries, report });
    branch = [...branch, ...fresh];
    ledger.take(deliveries);
    return fresh;
  }

  return {
    session: { agentId: "main", sessionId, sessionKey: KEY },
    exists: () => branch.length > 0,
    read: async (part) => partOfBranch(branch, part),
    append: (entries) => appendStep({ entries, deliveries: [], report: null }),
    appendStep,
    deliveries: ledger,
    async rewrite({ replacements }) {
      const wanted = new Map(replacements.map(({ entryId, message }) => [entryId, message]));
      const first = branch.findIndex(({ id }) => wanted.has(id));
      if (first < 0)
        return { changed: false, bytesFreed: 0, rewrittenEntries: 0, reason: "nothing matched" };
      const origins = originsOf(branch);
      const remapped = new Map(branch.slice(first).map(({ id }) => [id, randomUUID() as string]));
      const moved = (id: string) => remapped.get(id) ?? id;
      const suffix = branch.slice(first).map((entry): TranscriptEntry => {
        const message = wanted.get(entry.id);
        const again = { ...entry, ...(message && { message }) } as TranscriptEntry;
        const parentId = entry.parentId === null ? null : moved(entry.parentId);
        const place = { id: moved(entry.id), parentId };
        return { ...moveReferences(withOrigin(again, origins.get(entry.id)!), moved), ...place };
      });
      store(suffix, { deliveries: [] });
      branch = [...branch.slice(0, first), ...suffix];
      return { changed: true, bytesFreed: 0, rewrittenEntries: wanted.size, remapped };
    },
    reports: () =>
      database
        .prepare("select turn from report where session = ? order by rowid")
        .all(sessionId)
        .map(({ turn }) => String(turn)),
    moveTo: (session) =>
      void database
        .prepare("insert or replace into current (session_key, session) values (?, ?)")
        .run(KEY, session),
    at: (session) => transcriptIn(database, session),
    async close() {
      isClosed = true;
      if (database.isOpen) database.close();
    },
  };
}

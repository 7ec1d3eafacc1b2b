// Makes the journal of what is to be forgotten out of the plan for it.
import type { Journal } from "./journal.ts";
import type { Planned, PlannedDatabase } from "./plan-home.ts";

/** Pure. True: something of it would go. */
export const holds = ({ messages, summaries, records }: PlannedDatabase): boolean =>
  messages.length + summaries.length + records.length > 0;

/** Pure. */
export const journalOf = (
  { databases, transcripts, backups }: Planned,
  dropsBackups: boolean,
): Journal => ({
  v: 1,
  databases: databases
    .filter(
      (database) =>
        holds(database) ||
        database.sessions.length > 0 ||
        database.isStale ||
        database.graves.some(({ hashes }) => hashes.size > 0),
    )
    .map(({ file, messages, sessions, summaries, records, graves }) => ({
      file,
      graves: graves.map(({ salt, hashes }) => ({
        ...{ salt: Buffer.from(salt).toString("hex"), hashes: [...hashes] },
      })),
      numbers: messages.map(({ number }) => number),
      summaries: [...summaries],
      records: [...records],
      sessions: sessions.map(({ sessionId, sessionKey = "", owner = "" }) => ({
        ...{ sessionId, sessionKey, owner },
      })),
    })),
  transcripts: transcripts.map(({ agentId, sessionId, entries }) => ({
    ...{ agentId, sessionId, entries: entries && [...entries] },
  })),
  backups: dropsBackups ? backups.map(({ file }) => file) : [],
});

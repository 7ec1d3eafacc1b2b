// Keeps what the door knows of sessions beside them in PostgreSQL.
import { ContextEngineError, type EngineRows } from "@clew/plugin-sdk/core";
import type { PostgresReader } from "@clew/store-postgres";
import { writeOwn } from "../../home/own-writes.ts";
import { appendNow } from "../../sessions/append-now.ts";
import { doorJournalFile } from "../../sessions/paths.ts";
import type {
  DoorJournals,
  JournalBounds,
  JournalSession,
  SessionJournal,
} from "../door-journals.ts";
import { DOOR_ROWS, lastNumber, rowsOfText, textOfRows } from "./door-rows.ts";

export interface PostgresJournalsParts {
  store: Pick<PostgresReader<never>, "list" | "engineRowsOfMany">;
  /** Of sessions that are open here. */
  rows: Pick<EngineRows, "of">;
}

const SESSIONS_AT_A_TIME = 100;

export function createPostgresJournals({ store, rows }: PostgresJournalsParts): DoorJournals {
  return {
    async *all(agentId, bounds) {
      yield* (await newest(store, agentId, bounds)).reverse();
    },
    of: (session) => journalOf(session, rows),
  };
}

async function newest(
  store: PostgresJournalsParts["store"],
  agentId: string,
  { maxBytes, maxFiles }: JournalBounds,
): Promise<string[]> {
  const sessions = (await store.list())
    .filter((each) => each.agentId === agentId)
    .sort((one, other) => other.changedAt - one.changedAt);
  const found: string[] = [];
  let left = maxBytes;
  for (let at = 0; at < sessions.length && left > 0; at += SESSIONS_AT_A_TIME) {
    const some = sessions.slice(at, at + SESSIONS_AT_A_TIME).map(({ sessionId }) => sessionId);
    const all = await store.engineRowsOfMany({ agentId, sessionIds: some, engine: DOOR_ROWS });
    for (const sessionId of some) {
      const text = textOfRows(all.get(sessionId) ?? []);
      left -= text.length;
      if (text === "" || left < 0 || found.length === maxFiles) continue;
      found.push(text);
    }
  }
  return found;
}

/** Its copy beside the session's is what lists read. */
function journalOf(session: JournalSession, rows: Pick<EngineRows, "of">): SessionJournal {
  const copy = doorJournalFile(session.sessionFile);
  /** Numbers that are taken, and whether the last line is whole. Undefined: nobody looked. */
  let end: { last: number; isTorn: boolean } | undefined;
  const open = () => {
    const own = rows.of(session, DOOR_ROWS);
    if (own !== undefined) return own;
    throw new ContextEngineError(
      "SESSION_LOCKED",
      `The session ${session.sessionKey} is not open here any more.`,
    );
  };
  const load = async () => {
    const all = await open().load();
    const text = textOfRows(all);
    end = { last: lastNumber(all), isTorn: text !== "" && !text.endsWith("\n") };
    return text;
  };
  return {
    async read() {
      const text = await load();
      if (text === "") return undefined;
      await writeOwn(copy, text);
      return text;
    },
    async append(text) {
      if (end === undefined) await load();
      const { last, isTorn } = end!;
      const added = rowsOfText(isTorn ? `\n${text}` : text, last);
      // Nobody may know whether they are stored: their numbers are not used again.
      end = { last: last + added.length, isTorn: false };
      if ((await open().store(added)) === "lost")
        throw new ContextEngineError(
          "SESSION_LOCKED",
          `The session ${session.sessionKey} is another gateway's by now.`,
        );
      appendNow(copy, text);
    },
  };
}

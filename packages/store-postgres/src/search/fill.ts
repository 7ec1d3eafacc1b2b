// Brings the search index up to what sessions hold, a batch at a time.
import { inSlices } from "@clew/plugin-sdk/host";
import { isLostBody, wholeBodies } from "../blobs/whole-bodies.ts";
import type { Database, Statement } from "../database.ts";
import { codeOf } from "../passing.ts";
import { BULK, type IndexedText, indexedText } from "./spelling.ts";

/** What a search finds an entry by, as its line says it; null: nothing. */
export type SearchText = (line: string) => string | null;

/** So many entries, and so many bytes of them, are indexed by one statement. */
const ENTRIES = 1000;
const BYTES = 2 * 2 ** 20;
/** What a body that is kept elsewhere is taken for. */
const LARGE_BYTES = 2 ** 18;
/** Others index the same sessions: each batch takes one of so many. */
const CHOICE = 20;
/** Times that another gateway may be faster. */
const MOST_LOST = 20;

interface Behind {
  agent_id: string;
  id: string;
  mark: number;
}

export const BEHIND: Statement<Behind> = {
  name: "search-behind",
  text: `
    select s.agent_id, s.id, coalesce(m.seq, 0)::float8 as mark
    from session s
    left join search_mark m on m.agent_id = s.agent_id and m.session_id = s.id
    where s.is_behind
    limit $1`,
};

interface ReadRow {
  seq: number;
  ts: number;
  body: string;
  blob: string | null;
}

export const READ: Statement<ReadRow> = {
  name: "search-read",
  text: `
    select seq::float8, ts::float8, body, blob from (
      select seq, ts, body, blob,
        sum(case when blob is null then octet_length(body) else ${LARGE_BYTES} end)
          over (order by seq) as total,
        row_number() over (order by seq) as number
      from (
        select seq, ts, body, blob from entry
        where agent_id = $1 and session_id = $2 and seq > $3 order by seq limit $4
      ) first
    ) counted
    where number = 1 or total <= $5 order by seq`,
};

/**
 * Who moves the mark from where it was found writes the rows; whoever comes later finds it moved
 * and writes nothing. The session's row is held meanwhile, so that it does not go away with less
 * than was written of it.
 */
const WRITE: Statement<{ seq: number }> = {
  name: "search-write",
  text: `
    with held as materialized (
      select agent_id, id from session where agent_id = $1 and id = $2 for key share
    ), moved as (
      insert into search_mark as m (agent_id, session_id, seq, messages)
      select h.agent_id, h.id, $4, cardinality($5::bigint[]) from held h
      where $3::bigint = 0 or exists (
        select 1 from search_mark k where k.agent_id = $1 and k.session_id = $2
      )
      on conflict (agent_id, session_id) do update
        set seq = $4, messages = m.messages + cardinality($5::bigint[])
        where m.seq = $3::bigint
      returning m.agent_id, m.session_id, m.seq
    ), written as (
      insert into search (agent_id, ts, session_id, seq, is_bulk, text)
      select m.agent_id, r.ts, m.session_id, r.seq, r.is_bulk, r.text
      from moved m, unnest($5::bigint[], $6::bigint[], $7::boolean[], $8::text[])
        as r (seq, ts, is_bulk, text)
    ), caught_up as (
      update session s set is_behind = s.head_seq > m.seq from moved m
      where s.agent_id = m.agent_id and s.id = m.session_id and s.head_seq <= m.seq
    )
    select seq::float8 from moved`,
};

/** For a session that turns out to have nothing behind its mark. */
const CAUGHT_UP: Statement<never> = {
  name: "search-caught-up",
  text: `
    update session s set is_behind = s.head_seq > coalesce((
      select m.seq from search_mark m where m.agent_id = s.agent_id and m.session_id = s.id
    ), 0)
    where s.agent_id = $1 and s.id = $2 and s.is_behind`,
};

/** A text that the index cannot take, for what this code does not know of it. */
const REFUSES_TEXT = /^(?:22|54)/;

/**
 * Indexes the next entries of a session that the index is behind of; how many (0: of none). Killed
 * at any moment it leaves a batch that is there whole or not at all. Throws STORAGE_FAILED.
 */
export async function indexNext(
  database: Database,
  searchText: SearchText,
  signal?: AbortSignal | undefined,
): Promise<number> {
  for (let lost = 0; lost < MOST_LOST; lost++) {
    signal?.throwIfAborted();
    const behind = await database.ask(BEHIND, [CHOICE]);
    const session = behind[Math.floor(Math.random() * behind.length)];
    if (session === undefined) return 0;
    const done = await indexBatch(database, searchText, session, signal);
    if (done > 0) return done;
  }
  return 0;
}

/** 0: nothing was left, or somebody else did it. */
async function indexBatch(
  database: Database,
  searchText: SearchText,
  { agent_id: agentId, id, mark }: Behind,
  signal: AbortSignal | undefined,
): Promise<number> {
  const read = await database.ask(READ, [agentId, id, mark, ENTRIES, BYTES]);
  const last = read.at(-1);
  if (last === undefined) {
    await database.ask(CAUGHT_UP, [agentId, id]);
    return 0;
  }
  const rows: ({ seq: number; ts: number } & IndexedText)[] = [];
  const index = ({ seq, ts, body }: ReadRow | LostRow) => {
    const text = body === null ? BULK : textOf(body, searchText);
    if (text !== null) rows.push({ seq, ts, ...text });
  };
  await inSlices(await asFarAsThere(database, agentId, read), index, { signal });
  const write = (texts: readonly IndexedText[]) =>
    database.ask(WRITE, [
      ...[agentId, id, mark, last.seq],
      rows.map(({ seq }) => seq),
      rows.map(({ ts }) => ts),
      texts.map(({ isBulk }) => isBulk),
      texts.map(({ text }) => text),
    ]);
  const moved = await write(rows).catch((error: Error) => {
    if (!REFUSES_TEXT.test(codeOf(error.cause) ?? "")) throw error;
    return write(rows.map(() => BULK));
  });
  return moved.length > 0 ? read.length : 0;
}

type LostRow = Pick<ReadRow, "seq" | "ts"> & { body: null };

/** One that is lost may come back: searches read it, and say so as long as it does not. */
async function asFarAsThere(
  database: Database,
  agentId: string,
  read: ReadRow[],
): Promise<(ReadRow | LostRow)[]> {
  try {
    return await wholeBodies(database, agentId, read);
  } catch (error) {
    if (!isLostBody(error)) throw error;
  }
  const each: (ReadRow | LostRow)[] = [];
  for (const row of read)
    try {
      each.push(...(await wholeBodies(database, agentId, [row])));
    } catch (error) {
      if (!isLostBody(error)) throw error;
      each.push({ seq: row.seq, ts: row.ts, body: null });
    }
  return each;
}

/** An entry that nobody can tell the text of is read by searches, which say so. */
function textOf(body: string, searchText: SearchText): IndexedText | null {
  try {
    const text = searchText(body);
    return text === null || text.trim() === "" ? null : indexedText(text);
  } catch {
    return BULK;
  }
}

// Keeps messages that wait for their turn, whoever has their session.
import { type BodyRow, wholeBodies } from "./blobs/whole-bodies.ts";
import type { Database, Statement } from "./database.ts";
import { IS_FREE } from "./lease.ts";

/** A message that waits. */
export interface InboxMessage {
  /** The sender's name for it: kept again under it, it is not there twice. */
  name: string;
  /** By which people take it back. */
  id: string;
  /** As it was given. */
  body: string;
}

/** What is to be done in a session that nobody else has. */
export interface LeftWork {
  /** In order. */
  messages: InboxMessage[];
  /** The entry with which a turn began that nobody goes on with; null: there is none. */
  openTurn: { entryId: string; body: string } | null;
}

/** A session by its name. */
interface Named {
  agentId: string;
  key: string;
}

interface Row {
  id: string;
  message_id: string;
  body: string;
}

type OpenTurnRow = BodyRow & { turn: string };

/**
 * What waits under the name stays, and is whose who asked last. A message that was taken back is
 * not kept again by a gateway that was not told that it had kept it; another one of its name is.
 */
const KEEP: Statement<Row & { waits: boolean }> = {
  name: "inbox-keep",
  text: `
    insert into inbox_row as i (agent_id, key, id, place, node, message_id, body)
    values ($1, $2, $3,
      (select coalesce(max(place), 0) + 1 from inbox_row where agent_id = $1 and key = $2),
      $4, $5, $6)
    on conflict (agent_id, key, id) do update set
      node = $4,
      (place, message_id, body, at, taken_at) = (
        select n.place, n.message_id, n.body, n.at, n.taken_at
        from (values
          (false, i.place, i.message_id, i.body, i.at, i.taken_at),
          (true, excluded.place, excluded.message_id, excluded.body, excluded.at, null)
        ) n (is_new, place, message_id, body, at, taken_at)
        where n.is_new = (i.taken_at is not null and i.message_id <> excluded.message_id)
      )
    returning i.id, i.message_id, i.body, i.taken_at is null as waits`,
};

const DROP: Statement<never> = {
  name: "inbox-drop",
  text: "delete from inbox where agent_id = $1 and key = $2 and id = any ($3::text[])",
};

/** `$3`: which one; null = all of the session. */
const TAKE_BACK: Statement<{ id: string }> = {
  name: "inbox-take-back",
  text: `
    with old as (delete from inbox_row where taken_at < now() - interval '1 day')
    update inbox_row set taken_at = now(), body = ''
    where agent_id = $1 and key = $2 and taken_at is null
      and ($3::text is null or message_id = $3::text)
    returning id`,
};

const LIST: Statement<Row> = {
  name: "inbox-list",
  text: `
    select id, message_id, body from inbox where agent_id = $1 and key = $2 order by place, id`,
};

/** Of a session that this node ($3) or nobody who lives has; the entry is near the end. */
const OPEN_TURN: Statement<OpenTurnRow> = {
  name: "turn-left",
  text: `
    select s.turn, e.body, e.blob
    from session s cross join lateral (
      select t.body, t.blob from entry t
      where t.agent_id = s.agent_id and t.session_id = s.id and t.entry_id = s.turn
      order by t.seq desc limit 1
    ) e
    where s.agent_id = $1 and s.key = $2 and s.turn is not null
      and (s.owner = $3 or ${IS_FREE("s")})`,
};

/** Durable when it resolves, unless it was taken back; gives what is kept under its name. */
export async function keepMessage(
  database: Database,
  { agentId, key }: Named,
  { name, id, body }: InboxMessage,
  nodeId: string,
): Promise<InboxMessage> {
  const [row] = await database.ask(KEEP, [agentId, key, name, nodeId, id, body]);
  return row?.waits ? messageOf(row) : { name, id, body };
}

export async function dropMessages(
  database: Database,
  { agentId, key }: Named,
  names: readonly string[],
): Promise<void> {
  await database.ask(DROP, [agentId, key, names]);
}

/** How many did wait, as far as the first answer tells. */
export const takeBackMessages = async (
  database: Database,
  { agentId, key }: Named,
  id: string | null,
): Promise<number> => (await database.ask(TAKE_BACK, [agentId, key, id])).length;

/** In order. */
export const listMessages = async (
  database: Database,
  { agentId, key }: Named,
): Promise<InboxMessage[]> => (await database.ask(LIST, [agentId, key])).map(messageOf);

/** In one round trip. */
export async function leftWork(
  database: Database,
  { agentId, key }: Named,
  nodeId: string,
): Promise<LeftWork> {
  const [rows, turns] = await database.askTogether<[Row, OpenTurnRow]>([
    { statement: LIST, values: [agentId, key] },
    { statement: OPEN_TURN, values: [agentId, key, nodeId] },
  ]);
  const [left] = await wholeBodies(database, agentId, turns);
  return {
    messages: rows.map(messageOf),
    openTurn: left === undefined ? null : { entryId: left.turn, body: left.body },
  };
}

const messageOf = ({ id: name, message_id: id, body }: Row): InboxMessage => ({ name, id, body });

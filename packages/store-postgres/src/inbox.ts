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

/** What is there under the name stays, and is whose who asked last. */
const KEEP: Statement<Row> = {
  name: "inbox-keep",
  text: `
    insert into inbox as i (agent_id, key, id, place, node, message_id, body)
    values ($1, $2, $3,
      (select coalesce(max(place), 0) + 1 from inbox where agent_id = $1 and key = $2), $4, $5, $6)
    on conflict (agent_id, key, id) do update set node = $4
    returning i.id, i.message_id, i.body`,
};

const DROP: Statement<never> = {
  name: "inbox-drop",
  text: "delete from inbox where agent_id = $1 and key = $2 and id = any ($3::text[])",
};

/** `$3`: which one; null = all of the session. */
const TAKE_BACK: Statement<{ id: string }> = {
  name: "inbox-take-back",
  text: `
    delete from inbox
    where agent_id = $1 and key = $2 and ($3::text is null or message_id = $3::text)
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

/** Durable when it resolves; gives what is kept under its name. */
export async function keepMessage(
  database: Database,
  { agentId, key }: Named,
  { name, id, body }: InboxMessage,
  nodeId: string,
): Promise<InboxMessage> {
  const [row] = await database.ask(KEEP, [agentId, key, name, nodeId, id, body]);
  return row === undefined ? { name, id, body } : messageOf(row);
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

// Reads and stores messages that wait in sessions which nobody has open.
import type { AskInside, Database, Statement } from "../database.ts";
import type { InboxMessage } from "../inbox.ts";

/** Messages of a session that wait behind those that do already; one that is there stays. */
export interface WaitingToPut {
  /** Whose session it is. */
  agentId: string;
  /** Its name. */
  key: string;
  /** In order. */
  messages: readonly InboxMessage[];
}

const INBOX: Statement<{
  agent_id: string;
  key: string;
  id: string;
  message_id: string;
  body: string;
}> = {
  name: "copy-inbox",
  text: `
    select agent_id, key, id, message_id, body from inbox order by agent_id, key, place, id`,
};

/** Of nobody who lives: whoever looks for work takes them. */
const PUT_INBOX = `
    insert into inbox (agent_id, key, id, place, node, message_id, body)
    select $1, $2, m.id,
      (select coalesce(max(place), 0) from inbox where agent_id = $1 and key = $2) + m.n,
      gen_random_uuid(), m.message_id, m.body
    from unnest($3::text[], $4::text[], $5::text[])
      with ordinality as m (id, message_id, body, n)
    on conflict do nothing`;

/** In order, with the sessions in which they wait. */
export const foundWaiting = async (
  database: Database,
): Promise<(InboxMessage & { agentId: string; key: string })[]> =>
  (await database.ask(INBOX, [])).map((row) => ({
    ...{ agentId: row.agent_id, key: row.key },
    ...{ name: row.id, id: row.message_id, body: row.body },
  }));

export async function putWaiting(
  ask: AskInside,
  { agentId, key, messages }: WaitingToPut,
): Promise<void> {
  await ask(PUT_INBOX, [
    ...[agentId, key],
    messages.map(({ name }) => name),
    messages.map(({ id }) => id),
    messages.map(({ body }) => body),
  ]);
}

// Keeps what gateways know of sessions that others started.
import { ContextEngineError } from "@clew/plugin-sdk/core";
import type { Database, Statement } from "./database.ts";
import { LIVES } from "./node.ts";

/** What was said of such a session. */
export interface ChildRow {
  /** The session's. */
  key: string;
  /** As it was given. */
  body: string;
  /** The gateway that said it lives. */
  lives: boolean;
}

const LIST: Statement<ChildRow> = {
  name: "children-list",
  text: `
    select c.key, c.body, n.id is not null as lives from child c
    left join node n on n.id = c.node and ${LIVES("n")}`,
};

/** Of a gateway that counts as dead nothing is taken. */
const PUT: Statement<{ key: string }> = {
  name: "child-put",
  text: `
    insert into child (agent_id, key, body, node)
    select $1, $2, $3, n.id from node n where n.id = $4 and ${LIVES("n")}
    on conflict (agent_id, key) do update set body = excluded.body, node = excluded.node
    returning key`,
};

const REMOVE: Statement<never> = {
  name: "child-remove",
  text: "delete from child where agent_id = $1 and key = $2",
};

/** In no order. */
export const listChildren = (database: Database): Promise<ChildRow[]> => database.ask(LIST, []);

/** Throws SESSION_LOCKED where the gateway counts as dead. */
export async function putChild(
  database: Database,
  { agentId, key, body }: { agentId: string; key: string; body: string },
  nodeId: string,
): Promise<void> {
  const put = await database.ask(PUT, [agentId, key, body, nodeId]);
  if (put.length > 0) return;
  throw new ContextEngineError(
    "SESSION_LOCKED",
    `This gateway was not heard of for too long, and what it knows of the session ${key} is not stored; ask again.`,
  );
}

export const removeChild = async (
  database: Database,
  { agentId, key }: { agentId: string; key: string },
): Promise<void> => void (await database.ask(REMOVE, [agentId, key]));

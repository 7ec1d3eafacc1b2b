// Reads entries of a session by their hashes, and as the lines that they were.
import { type BodyRow, wholeBodies } from "../blobs/whole-bodies.ts";
import type { Database, Statement } from "../database.ts";
import type { CopySummary } from "./found-sessions.ts";
import { HASHES } from "./put-session.ts";

type SessionOf = Pick<CopySummary, "agentId" | "sessionId">;

const HASHES_OF: Statement<{ hash: string }> = { name: "copy-hashes", text: HASHES };

const LINES: Statement<BodyRow & { seq: number }> = {
  name: "copy-lines",
  text: `
    select seq::float8, body, blob from (
      select seq, body, blob, sum(coalesce(size, octet_length(body))) over (order by seq) as total,
        row_number() over (order by seq) as number
      from (
        select e.seq, e.body, e.blob, b.size from entry e
        left join blob b on b.agent_id = e.agent_id and b.hash = e.blob
        where e.agent_id = $1 and e.session_id = $2 and e.seq > $3 order by e.seq limit $4
      ) first
    ) counted
    where number = 1 or total <= $5 order by seq`,
};

const LINES_AT_A_TIME = 1000;
const BYTES_AT_A_TIME = 4 * 2 ** 20;

/** SHA-256 of at most `limit` entries behind a place. */
export const entryHashes = async (
  database: Database,
  { agentId, sessionId }: SessionOf,
  { after, limit }: { after: number; limit: number },
): Promise<string[]> =>
  (await database.ask(HASHES_OF, [agentId, sessionId, after, limit])).map(({ hash }) => hash);

/** Entries behind a place; at least one, and then no more than a few megabytes. */
export async function entryLines(
  database: Database,
  { agentId, sessionId }: SessionOf,
  after: number,
): Promise<{ seq: number; body: string }[]> {
  const values = [agentId, sessionId, after, LINES_AT_A_TIME, BYTES_AT_A_TIME];
  return wholeBodies(database, agentId, await database.ask(LINES, values));
}

// Reads and stores the parts that turn reports name.
import { asIs, putBodies, TOUCHED } from "../blobs/put-bodies.ts";
import type { Database, Statement } from "../database.ts";

const MISSING: Statement<{ hash: string }> = {
  name: "copy-missing-parts",
  text: `
    select p.hash from unnest($2::text[]) as p (hash)
    where not exists (select 1 from part where agent_id = $1 and part.hash = p.hash)`,
};

/** False: a large one was taken away since it was put elsewhere, and nothing is stored. */
const PUT_PARTS: Statement<{ is_done: boolean }> = {
  name: "copy-put-parts",
  text: `
    with ${TOUCHED("$1", "$5")}, done as (
      select count(*) = cardinality($5::text[]) as is_done from touched
    ), parts as (
      insert into part (agent_id, hash, body, blob)
      select $1, p.hash, p.body, nullif(p.blob, '')
      from done, unnest($2::text[], $3::text[], $4::text[]) as p (hash, body, blob)
      where done.is_done
      on conflict do nothing
    )
    select is_done from done`,
};

const PARTS: Statement<{ hash: string }> = {
  name: "copy-parts",
  text: "select hash from part where agent_id = $1 order by hash",
};

/** Those that are not there, by their hashes. */
export const missingParts = async (
  database: Database,
  agentId: string,
  hashes: readonly string[],
): Promise<string[]> => (await database.ask(MISSING, [agentId, hashes])).map(({ hash }) => hash);

/** By their hashes; what is there stays. */
export async function putParts(
  database: Database,
  agentId: string,
  parts: ReadonlyMap<string, string>,
): Promise<void> {
  const bodies = [...parts.values()];
  const placed = await putBodies(database, { agentId }, bodies);
  const put = async (rows: readonly { body: string; blob: string }[]) => {
    const named = [...new Set(rows.flatMap(({ blob }) => blob || []))];
    const columns = [rows.map(({ body }) => body), rows.map(({ blob }) => blob)];
    const [row] = await database.ask(PUT_PARTS, [agentId, [...parts.keys()], ...columns, named]);
    return row?.is_done === true;
  };
  if (!(await put(placed))) await put(bodies.map(asIs));
}

/** Hashes of all parts of an agent. */
export const partsOf = async (database: Database, agentId: string): Promise<string[]> =>
  (await database.ask(PARTS, [agentId])).map(({ hash }) => hash);

// Puts what an engine has beside a session in files into the place of what is there.
import type { AskInside } from "../database.ts";
import type { EngineRow } from "../engine-rows.ts";

/** Rows of one engine beside a session. */
export interface RowsToPut {
  /** Its id. */
  engine: string;
  /** In any order; of two rows of one name the last one counts. */
  rows: readonly EngineRow[];
  /** True: there are no others. */
  isAll: boolean;
}

const DROP = `
  delete from engine_row where agent_id = $1 and session_id = $2 and engine = $3`;

/** Behind what any other epoch stored, as its own says that it is before its first step. */
const PUT = `
  insert into engine_row as r (agent_id, session_id, engine, kind, key, epoch, step, body)
  select $1, $2, $3, n.kind, n.key, $4, 0, n.body
  from unnest($5::text[], $6::text[], $7::text[]) as n (kind, key, body)
  on conflict (agent_id, session_id, engine, kind, key) do update
    set epoch = excluded.epoch, step = excluded.step, body = excluded.body`;

const ROWS_AT_A_TIME = 1_000;
const TEXT_AT_A_TIME = 4 * 2 ** 20;

/** Inside of what the session is stored with, whose last statement is fenced. */
export async function putEngineRows(
  ask: AskInside,
  { agentId, sessionId, epoch }: { agentId: string; sessionId: string; epoch: number },
  { engine, rows, isAll }: RowsToPut,
): Promise<void> {
  if (isAll) await ask(DROP, [agentId, sessionId, engine]);
  const named = new Map(rows.map((row) => [JSON.stringify([row.kind, row.key]), row]));
  for (const some of batches([...named.values()]))
    await ask(PUT, [
      ...[agentId, sessionId, engine, epoch],
      ...[some.map(({ kind }) => kind), some.map(({ key }) => key), some.map(({ body }) => body)],
    ]);
}

function* batches(rows: readonly EngineRow[]): Iterable<EngineRow[]> {
  let some: EngineRow[] = [];
  let length = 0;
  for (const row of rows) {
    some.push(row);
    length += row.body?.length ?? 0;
    if (some.length < ROWS_AT_A_TIME && length < TEXT_AT_A_TIME) continue;
    yield some;
    [some, length] = [[], 0];
  }
  if (some.length > 0) yield some;
}

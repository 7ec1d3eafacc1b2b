// Tells how the queues of a database stand.
import type { Database, Statement } from "../database.ts";
import { JOBS_SCHEMA } from "./queue-schema.ts";

/** How a queue stands. */
export interface QueueStanding {
  /** What its pieces of work are sent under. */
  queue: string;
  /** Pieces of work that are due and wait. */
  waiting: number;
  /** Those that a gateway does now. */
  running: number;
  /** Those that wait for another attempt, as the one before failed or its gateway died. */
  retrying: number;
  /** How long the oldest that waits has been due, ms; 0: none waits. */
  oldestMs: number;
  /** When one was done last, ms since the epoch; null: none was, as far as is known. */
  doneAt: number | null;
}

const IS_THERE: Statement<{ is_there: boolean }> = {
  name: "queues-there",
  text: `select to_regclass('${JOBS_SCHEMA}.job') is not null as is_there`,
};

const STANDINGS: Statement<QueueStanding> = {
  name: "queues-stand",
  text: `
    select j.name as queue,
      count(*) filter (where j.state in ('created', 'retry') and j.start_after <= now())::int
        as waiting,
      count(*) filter (where j.state = 'active')::int as running,
      count(*) filter (where j.state = 'retry')::int as retrying,
      coalesce(extract(epoch from now() - min(j.start_after) filter (
        where j.state in ('created', 'retry') and j.start_after <= now())) * 1000, 0)::float8
        as "oldestMs",
      (extract(epoch from max(j.completed_on) filter (where j.state = 'completed')) * 1000)::float8
        as "doneAt"
    from ${JOBS_SCHEMA}.job j
    group by j.name order by j.name`,
};

/** None where no gateway has made them. */
export async function queueStandings(database: Pick<Database, "ask">): Promise<QueueStanding[]> {
  const [found] = await database.ask(IS_THERE, []);
  return found?.is_there === true ? database.ask(STANDINGS, []) : [];
}

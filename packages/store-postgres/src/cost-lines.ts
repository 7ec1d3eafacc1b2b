// Keeps what gateways wrote down of model calls, for any of them to read.
import type { Database, Statement } from "./database.ts";

/** Whole lines of a day's file. */
export interface CostPiece {
  /** YYYY-MM-DD. */
  day: string;
  /** The byte of the file at which they begin. */
  from: number;
  /** Behind which they end. */
  to: number;
  /** Each with its line feed. */
  text: string;
}

/** Lines of a home, and up to where they are kept. */
export interface CostShelf {
  /** Bytes of each day's file that are kept. */
  kept(): Promise<ReadonlyMap<string, number>>;
  /** Durable when it resolves; the same may be put again. */
  put(piece: CostPiece): Promise<void>;
  /** Takes a day away, or with null all days. */
  drop(day: string | null): Promise<void>;
}

/** Rows are few, and none is too long to be read with others. */
const PIECE_BYTES = 64 * 1024;
const ROWS_AT_A_TIME = 64;

const KEPT: Statement<{ day: string; upto: number }> = {
  name: "costs-kept",
  text: "select day, max(upto)::float8 as upto from cost_line where home = $1 group by day",
};

/** Two at a time would not see what the other puts. */
const ONE_AT_A_TIME: Statement<never> = {
  name: "costs-one-at-a-time",
  text: "select pg_advisory_xact_lock(hashtextextended('costs ' || $1 || ' ' || $2, 0))",
};

/** What is kept already changes nothing, so that it may be sent once more. */
const PUT: Statement<never> = {
  name: "costs-put",
  text: `
    with grown as (
      update cost_line set body = body || $5, upto = $4, put_at = now()
      where home = $1 and day = $2 and upto = $3 and octet_length(body) < ${PIECE_BYTES}
      returning 1
    )
    insert into cost_line (home, day, start, upto, body)
    select $1, $2, $3, $4, $5
    where not exists (select 1 from grown)
      and not exists (select 1 from cost_line where home = $1 and day = $2 and upto > $3)`,
};

const DROP: Statement<never> = {
  name: "costs-drop",
  text: "delete from cost_line where home = $1 and ($2::text is null or day = $2)",
};

const OTHERS: Statement<{ home: string; day: string; start: number; body: string }> = {
  name: "costs-others",
  text: `
    select home, day, start::float8, body from cost_line
    where home <> $1 and (home, day, start) > ($2, $3, $4)
    order by home, day, start limit ${ROWS_AT_A_TIME}`,
};

export const costShelf = (database: Database, home: string): CostShelf => ({
  async kept() {
    const rows = await database.ask(KEPT, [home]);
    return new Map(rows.map(({ day, upto }) => [day, upto]));
  },
  async put({ day, from, to, text }) {
    await database.askAsOne([
      { statement: ONE_AT_A_TIME, values: [home, day] },
      { statement: PUT, values: [home, day, from, to, text] },
    ]);
  },
  async drop(day) {
    await database.ask(DROP, [home, day]);
  },
});

/** Of all homes but one, each day's lines in their order. */
export async function* costsOfOthers(
  database: Database,
  home: string,
): AsyncGenerator<{ day: string; text: string }> {
  for (let after: readonly unknown[] = ["", "", -1]; ; ) {
    const rows = await database.ask(OTHERS, [home, ...after]);
    for (const { day, body: text } of rows) yield { day, text };
    const last = rows.at(-1);
    if (last === undefined || rows.length < ROWS_AT_A_TIME) return;
    after = [last.home, last.day, last.start];
  }
}

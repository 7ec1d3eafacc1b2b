// Reads what other homes wrote down of model calls, and later what came since.
import type { Database, Statement } from "./database.ts";

/** Lines of a day, each with its line feed; those of one home are in their order. */
export interface DayOfCosts {
  /** YYYY-MM-DD. */
  day: string;
  /** Whole lines. */
  text: string;
}

/** One reading at a time. */
export interface CostFollower {
  /** All that there is, day by day, oldest first: pieces of a day follow each other. */
  all(): AsyncIterable<DayOfCosts>;
  /** What came since. Null: something else is there than was read, so that all is to be read. */
  more(): Promise<DayOfCosts[] | null>;
}

/** What was read of a row. */
interface Place {
  home: string;
  day: string;
  start: number;
  upto: number;
  /** Signs of its text. */
  chars: number;
  /** By the database's clock, s since the epoch. */
  put: number;
}

interface Row extends Place {
  /** Behind what was known of it. */
  text: string;
}

const ROWS_AT_A_TIME = 64;

/** Longer than a statement takes, s: what was put earlier may be seen later. */
const OVERLAP_S = 60;

const PLACE = `
  c.home, c.day, c.start::float8, c.upto::float8, char_length(c.body) as chars,
  extract(epoch from c.put_at)::float8 as put`;

const ALL: Statement<Row> = {
  name: "costs-by-day",
  text: `
    select ${PLACE}, c.body as text from cost_line c
    where c.home <> $1 and (c.day, c.home, c.start) > ($2, $3, $4)
    order by c.day, c.home, c.start limit ${ROWS_AT_A_TIME}`,
};

/** `$3` to `$7`: what is known of rows. */
const MORE: Statement<Row> = {
  name: "costs-since",
  text: `
    select ${PLACE}, substr(c.body, coalesce(k.chars, 0) + 1) as text from cost_line c
    left join unnest($3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::int[])
      as k (home, day, start, upto, chars)
      on k.home = c.home and k.day = c.day and k.start = c.start
    where c.put_at >= to_timestamp($2::float8) and c.home <> $1 and c.upto is distinct from k.upto
    order by c.put_at limit ${ROWS_AT_A_TIME}`,
};

export function followCosts(database: Database, home: string): CostFollower {
  /** By keys of rows. */
  const known = new Map<string, Place>();
  let newest = 0;
  const take = ({ text: _text, ...place }: Row): void => {
    known.set(keyOf(place), place);
    newest = Math.max(newest, place.put);
  };
  return {
    async *all() {
      const began = performance.now();
      known.clear();
      newest = 0;
      for (let after: readonly unknown[] = ["", "", -1]; ; ) {
        const rows = await database.ask(ALL, [home, ...after]);
        for (const row of rows) {
          take(row);
          yield { day: row.day, text: row.text };
        }
        const last = rows.at(-1);
        if (last === undefined || rows.length < ROWS_AT_A_TIME) break;
        after = [last.day, last.home, last.start];
      }
      // A row that was read first may have grown before one was put that was read last.
      newest -= (performance.now() - began) / 1000;
    },
    async more() {
      const found: DayOfCosts[] = [];
      for (;;) {
        const since = newest - OVERLAP_S;
        const late = [...known.values()].filter(({ put }) => put >= since);
        const told = new Set(late.map(keyOf));
        const column = (name: keyof Place) => late.map((place) => place[name]);
        const rows = await database.ask(MORE, [
          ...[home, since, column("home"), column("day"), column("start")],
          ...[column("upto"), column("chars")],
        ]);
        for (const row of rows) {
          const key = keyOf(row);
          const before = known.get(key);
          if (before !== undefined && row.upto <= before.upto) return null;
          const read = told.has(key) ? 0 : (before?.chars ?? 0);
          found.push({ day: row.day, text: read === 0 ? row.text : behind(row.text, read) });
          take(row);
        }
        if (rows.length < ROWS_AT_A_TIME) return found;
      }
    },
  };
}

const keyOf = ({ home, day, start }: Pick<Place, "home" | "day" | "start">): string =>
  `${home} ${day} ${start}`;

/** Signs are counted as the database does. */
const behind = (text: string, signs: number): string => [...text].slice(signs).join("");

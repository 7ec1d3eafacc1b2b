// Fills a PostgreSQL with many messages of one agent, much faster than gateways would.
import type { Database } from "../../../../packages/store-postgres/src/database.ts";
import { makeTrigramIndex } from "../../../../packages/store-postgres/src/search/trigrams.ts";

export interface CorpusOptions {
  database: Database;
  /** In all. */
  messages: number;
  /** The newest, which are left to the index job. */
  unindexed: number;
  onStep(what: string): void;
}

const PER_SESSION = 1000;
const SENTENCES = 5000;
const VOCABULARY = 8000;
const SYLLABLES = "ba ce di fo gu ha je ki lo mu na pe ri so tu va we xi yo zu".split(" ");

/** One in three messages says "common", one in a hundred "middling", one alone "rarest". */
export async function makeCorpus({
  database,
  messages,
  unindexed,
  onStep,
}: CorpusOptions): Promise<void> {
  const run = (sql: string) => database.change(async () => sql);
  const indexed = messages - unindexed;
  const [{ definition } = { definition: "" }] = await database.ask<{ definition: string }>(
    {
      name: "bench-index",
      text: "select indexdef as definition from pg_indexes where indexname = 'search_words'",
    },
    [],
  );
  await run("drop index search_words; drop index if exists search_trigrams");
  onStep("sentences");
  await database.together(async (ask) => {
    await ask("create table sentence (n integer primary key, said text not null)", []);
    const all = sentences();
    const numbers = all.map((_, index) => index + 1);
    await ask("insert into sentence select * from unnest($1::int[], $2::text[])", [numbers, all]);
  });
  await run("analyze sentence");
  onStep("messages");
  const parts = Array.from({ length: 8 }, (_, part) => ({
    alias: `p${part}`,
    of: SENTENCES - 7 * part - 1,
    by: 7 + 4 * part,
  }));
  await run(`
    insert into session (agent_id, id, key, head_seq, is_behind)
    select 'main', 's' || n, 'agent:main:s' || n, ${PER_SESSION}, true
    from generate_series(0, ${Math.ceil(messages / PER_SESSION) - 1}) n;
    insert into entry (agent_id, session_id, seq, entry_id, role, ts, body)
    select 'main', 's' || m.n / ${PER_SESSION}, m.n % ${PER_SESSION} + 1, 'e' || m.n, 1,
      1700000000000 + 1000 * m.n,
      '{"type":"message","id":"e' || m.n
        || '","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"'
        || m.said || '"}}'
    from (
      select g.n, ${parts.map(({ alias }) => `${alias}.said`).join(" || ' ' || ")}
        || ' ticket-' || g.n
        || case when g.n % 50 = 0 then ' src/module-' || g.n || '.ts:12' else '' end
        || case when g.n % 3 = 0 then ' common' else '' end
        || case when g.n % 100 = 0 then ' middling' else '' end
        || case when g.n = ${Math.floor(messages / 100)} then ' rarest' else '' end as said
      from generate_series(0::bigint, ${messages - 1}) g (n)
      ${parts.map(({ alias, of, by }) => `join sentence ${alias} on ${alias}.n = (g.n * ${by}) % ${of} + 1`).join(" ")}
    ) m`);
  onStep("search texts");
  await run(`
    insert into search (agent_id, ts, session_id, seq, is_bulk, text)
    select agent_id, ts, session_id, seq, false, upper(body::json->'message'->>'content')
    from entry where ts < 1700000000000 + 1000::bigint * ${indexed};
    insert into search_mark (agent_id, session_id, seq, messages)
    select agent_id, session_id, max(seq), count(*) from search group by 1, 2;
    update session s set is_behind = false from search_mark m
    where m.agent_id = s.agent_id and m.session_id = s.id and m.seq = s.head_seq`);
  onStep("index of words");
  await run(`set local maintenance_work_mem = '256MB'; ${definition}`);
  onStep("index of trigrams");
  await makeTrigramIndex(database);
  onStep("statistics");
  for (const table of ["search", "entry", "session", "search_mark"])
    await database.ask({ name: `bench-vacuum-${table}`, text: `vacuum analyze ${table}` }, []);
}

/** Of made-up words, some of which are much more common than others; always the same. */
function sentences(): string[] {
  let state = 1;
  const random = () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
  const word = () => {
    let rest = Math.floor(random() ** 3 * VOCABULARY) + SYLLABLES.length;
    let text = "";
    for (; rest > 0; rest = Math.floor(rest / SYLLABLES.length))
      text += SYLLABLES[rest % SYLLABLES.length];
    return text;
  };
  return Array.from({ length: SENTENCES }, () => `${Array.from({ length: 14 }, word).join(" ")}.`);
}

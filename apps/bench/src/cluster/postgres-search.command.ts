// The command `pnpm bench postgres-search`, which times searches in many messages.
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { openDatabase } from "../../../../packages/store-postgres/src/database.ts";
import { migrate } from "../../../../packages/store-postgres/src/migrate.ts";
import { indexNext } from "../../../../packages/store-postgres/src/search/fill.ts";
import { searchMessages } from "../../../../packages/store-postgres/src/search/search.ts";
import {
  createDatabase,
  startPostgres,
} from "../../../../packages/store-postgres/src/testing/server.ts";
import { searchTextOfLine } from "../../../gateway/src/sessions/search/entry-text.ts";
import { type SearchQuery, searchMatcher } from "../../../gateway/src/sessions/search/query.ts";
import { makeCorpus } from "./search-corpus.ts";

export const description =
  "searches in 100,000 messages of one agent in PostgreSQL, step by step; goal: 10 ms at a million, warm";

const USAGE = `Usage: pnpm bench postgres-search [--messages N] [--rounds N]

  --messages N  of about 0.6 KB each (default: 100000; a million takes some 15 minutes and 4 GB)
  --rounds N    how often each search is done (default: 15)

Exit code 0, 1 where a search did not find what is there, 2 for wrong options.
`;

/** So many are left to the index job, which is timed. */
const UNINDEXED = 5_000;
const LIMIT = 50;
const TAIL = `
  select body from entry where agent_id = 'main' and session_id = 's1' order by seq desc limit 64`;

interface Case extends SearchQuery {
  what: string;
  /** How many there are. */
  count(messages: number): number;
}

const CASES: readonly Case[] = [
  { what: "common word", kind: "words", text: "common", count: (n) => n / 3 },
  { what: "common text", kind: "text", text: "ommon", count: (n) => n / 3 },
  { what: "middling word, 1 in 100", kind: "words", text: "middling", count: (n) => n / 100 },
  { what: "middling text", kind: "text", text: "iddlin", count: (n) => n / 100 },
  { what: "rare word", kind: "words", text: "rarest", count: () => 1 },
  { what: "rare text", kind: "text", text: "arest", count: () => 1 },
  { what: "literal of code", kind: "text", text: "src/module-50.ts:12", count: () => 1 },
  { what: "part of a number", kind: "text", text: "et-1233 ", count: () => 1 },
  { what: "regex with a literal", kind: "pattern", text: "module-50\\.ts:\\d+", count: () => 1 },
  { what: "two words", kind: "words", text: "rarest middling", count: () => 1 },
  { what: "miss, a word", kind: "words", text: "nobodysaid", count: () => 0 },
  { what: "miss, a text", kind: "text", text: "nobody said that", count: () => 0 },
];

/** Exit code. */
export async function main(args: readonly string[]): Promise<number> {
  const asked = readOptions(args);
  if (asked === undefined) {
    process.stderr.write(USAGE);
    return args[0] === "--help" ? 0 : 2;
  }
  const { messages, rounds } = asked;
  const server = await startPostgres({ folder: join(tmpdir(), `clew-search-${process.pid}`) });
  const trips: { name: string; ms: number }[] = [];
  const database = openDatabase({
    ...{ url: await createDatabase(server, "search"), connections: 1, timeoutMs: 3_600_000 },
    onRoundTrip: ({ statements, ms }) => void trips.push({ name: statements.join("+"), ms }),
  });
  try {
    await migrate(database);
    const began = performance.now();
    const onStep = (what: string) => say(`${seconds(began)} s: ${what}`);
    await makeCorpus({ database, messages, unindexed: UNINDEXED, onStep });
    onStep("the index job");
    const filling = performance.now();
    for (let done = 1; done > 0; ) done = await indexNext(database, searchTextOfLine);
    say(`index job: ${((performance.now() - filling) / UNINDEXED).toFixed(2)} ms per message`);
    await tellSizes();
    say(`${messages} messages, ${rounds} rounds; ms: median, least, most, then of each step`);
    await timeReferences();
    let wrong = 0;
    for (const each of CASES) {
      const found = await time(each);
      wrong += found === Math.min(LIMIT, Math.ceil(each.count(messages))) ? 0 : 1;
    }
    say(
      `load of the machine: ${loadavg()
        .map((load) => load.toFixed(1))
        .join(", ")}`,
    );
    return wrong === 0 ? 0 : 1;
  } finally {
    await database.end();
    await server.stop();
  }

  async function time({ what, ...query }: Case): Promise<number> {
    const took: { ms: number; steps: number[] }[] = [];
    let found = 0;
    for (let round = 0; round <= rounds; round++) {
      trips.length = 0;
      const { needs, excerptOf } = searchMatcher(query);
      const began = performance.now();
      const { hits } = await searchMessages(database, {
        ...{ agentId: "main", needs, limit: LIMIT, boundMs: 60_000 },
        accepts(line) {
          const text = searchTextOfLine(line);
          if (text === null) return undefined;
          const steps = excerptOf(text);
          for (;;) {
            const { done, value } = steps.next();
            if (done) return value;
          }
        },
      });
      found = hits.length;
      // The first one reads what is not in memory yet.
      if (round > 0) took.push({ ms: performance.now() - began, steps: trips.map(({ ms }) => ms) });
    }
    const sorted = took.toSorted((one, other) => one.ms - other.ms);
    const middle = sorted[sorted.length >> 1]!;
    const told = [middle, sorted[0]!, sorted.at(-1)!].map(({ ms }) => ms.toFixed(1).padStart(8));
    const steps = middle.steps.map((ms) => ms.toFixed(1)).join(" + ");
    say(`${what.padEnd(26)} ${String(found).padStart(3)} found ${told.join("")}   ${steps}`);
    return found;
  }

  /** What a machine that is busy otherwise makes of what takes a fraction of a millisecond. */
  async function timeReferences(): Promise<void> {
    const tail = { name: "bench-tail", text: TAIL };
    const ask = {
      "nothing, a round trip": () => database.ask({ name: "bench-nothing", text: "select 1" }, []),
      "the newest 64, parsed": async () =>
        (await database.ask<{ body: string }>(tail, [])).map(({ body }) => JSON.parse(body)),
    };
    for (const [what, work] of Object.entries(ask)) {
      const took: number[] = [];
      for (let round = 0; round <= rounds; round++) {
        const began = performance.now();
        await work();
        if (round > 0) took.push(performance.now() - began);
      }
      took.sort((one, other) => one - other);
      const told = [took[took.length >> 1]!, took[0]!, took.at(-1)!];
      say(`${what.padEnd(36)} ${told.map((ms) => ms.toFixed(1).padStart(8)).join("")}`);
    }
  }

  async function tellSizes(): Promise<void> {
    const sizes = await database.ask<{ name: string; size: string }>(
      {
        name: "bench-sizes",
        text: `
          select relname as name, pg_size_pretty(pg_relation_size(oid)) as size from pg_class
          where relname in ('entry', 'search', 'search_pkey', 'search_words', 'search_trigrams')
          order by 1`,
      },
      [],
    );
    say(sizes.map(({ name, size }) => `${name} ${size}`).join(", "));
  }
}

const say = (line: string) => void process.stdout.write(`${line}\n`);

const seconds = (began: number) => ((performance.now() - began) / 1000).toFixed(0).padStart(5);

function readOptions(args: readonly string[]) {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: { messages: { type: "string" }, rounds: { type: "string" } },
    });
    const [messages, rounds] = [Number(values.messages ?? 100_000), Number(values.rounds ?? 15)];
    const isRight = messages >= 2 * UNINDEXED && rounds >= 1;
    return isRight && Number.isInteger(messages + rounds) ? { messages, rounds } : undefined;
  } catch {
    return undefined;
  }
}

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Database, openDatabase, type Question } from "../database.ts";
import { migrate } from "../migrate.ts";
import { runSql } from "../testing/server.ts";
import { testDatabase, UNLESS_THERE, whyNoPostgres } from "../testing/shared.ts";
import { BEHIND, READ } from "./fill.ts";
import { SETTINGS } from "./search.ts";
import { indexNeeds } from "./spelling.ts";
import {
  AGENTS,
  countQuestion,
  indexQuestion,
  lookedQuestion,
  newestOf,
  tailQuestion,
  timesQuestion,
  windowQuestion,
} from "./statements.ts";
import { makeTrigramIndex } from "./trigrams.ts";

const ROWS = 100_000;

describe.skipIf(whyNoPostgres() !== null)(
  `statements of a search in 100,000 messages ${UNLESS_THERE}`,
  () => {
    let database: Database;
    beforeAll(async () => {
      const url = await testDatabase();
      database = openDatabase({ url, connections: 1, timeoutMs: 120_000 });
      await migrate(database);
      const [row] = await runSql(
        url,
        "select indexdef from pg_indexes where indexname = 'search_words'",
      );
      // In two agents, a session for every twenty; much faster than by the index job.
      await runSql(
        url,
        `drop index search_words;
        insert into session (agent_id, id, key, head_seq, is_behind)
          select 'agent ' || n % 2, 's' || n, 'agent:main:' || n, 20, n < 10
          from generate_series(1, ${ROWS / 20}) n;
        insert into search_mark (agent_id, session_id, seq, messages)
          select agent_id, id, 19, 19 from session;
        insert into entry (agent_id, session_id, seq, entry_id, role, ts, body)
          select s.agent_id, s.id, n, n, 1, 1000 * n, '{}' from session s, generate_series(1, 20) n;
        insert into search (agent_id, ts, session_id, seq, is_bulk, text)
          select agent_id, ts, session_id, seq, seq = 7 and session_id like 's1%',
            'MESSAGE ' || seq || ' OF ' || session_id
          from entry;
        ${row?.indexdef};`,
      );
      await makeTrigramIndex(database);
      await runSql(url, "vacuum analyze");
    }, 120_000);
    afterAll(() => database?.end());

    async function planOf({ statement, values }: Question, settings = SETTINGS) {
      const explained = { name: "", text: `explain (costs off) ${statement.text}` };
      const [rows] = await database.askAsOne<[{ "QUERY PLAN": string }]>(
        [{ statement: explained, values }],
        settings,
      );
      return rows.map((row) => row["QUERY PLAN"]).join("\n");
    }
    const ofAgent = { agentId: "agent 1", sessionId: null, everyBranch: false };
    const ofSession = { ...ofAgent, sessionId: "s5" };
    const needs = (literal: string, word?: string) =>
      indexNeeds({ literals: [literal], words: word === undefined ? [] : [word] });
    const window = (scope: typeof ofAgent | typeof ofSession) => ({
      ...{ scope, from: newestOf(scope), size: 500, limit: 100, since: 1000 },
      needs: needs("essage", "s99"),
    });

    it.each<[string, Question, string?]>([
      ["the newest", windowQuestion(window(ofAgent))],
      ["the newest of a session", windowQuestion(window(ofSession))],
      ["what the index lacks", tailQuestion(ofAgent, 500)],
      ["what it lacks of a session", tailQuestion(ofSession, 500)],
      ["how far back to look", timesQuestion(ofAgent, 2500)],
      ["how far it was looked", lookedQuestion(ofAgent, newestOf(ofAgent))],
      ["how far in a session", lookedQuestion(ofSession, newestOf(ofSession))],
      ["how many there are", countQuestion(ofSession)],
      ["agents", { statement: AGENTS, values: [] }],
      ["sessions to be indexed", { statement: BEHIND, values: [20] }, ""],
      ["entries to be indexed", { statement: READ, values: ["agent 1", "s5", 10, 1000, 1000] }, ""],
    ])("read no table whole for %s", async (_what, question, settings) => {
      expect(await planOf(question, settings)).not.toMatch(/Seq Scan/);
    });

    it.each([
      ["words", { literals: [], words: ["s99"] }, /search_words/],
      ["texts", { literals: ["f s99"], words: [] }, /search_trigrams/],
      ["both", { literals: ["message 4 of s99"], words: [] }, /search_words|search_trigrams/],
    ])("find %s by their index, in a part and in all", async (_what, wanted, index) => {
      for (const since of [null, 19_000]) {
        const question = indexQuestion({ ...window(ofAgent), since, needs: indexNeeds(wanted) });
        const plan = await planOf(question);
        expect(plan).not.toMatch(/Seq Scan/);
        expect(plan).toMatch(index);
      }
    });
  },
);

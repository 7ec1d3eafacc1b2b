import { join } from "node:path";
import type { DeliveryLedger } from "@clew/engine-core";
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { openPostgresStore, type PostgresStore } from "@clew/store-postgres";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import {
  testDatabase,
  UNLESS_THERE,
  whyNoPostgres,
} from "../../../../../packages/store-postgres/src/testing/shared.ts";
import type { SearchQuery } from "../../sessions/search/query.ts";
import { createFileSearch } from "../../sessions/search/search-files.ts";
import { createSessionStore, type SessionStore } from "../../sessions/store.ts";
import { temporaryHome } from "../../testing/home.ts";
import { portsOfHome } from "./ports.ts";
import { createPostgresSearch } from "./search.ts";
import { createPostgresSessions } from "./store.ts";

const WORDS = [
  ...["the", "heron", "Straße", "STRASSE", "café", "cafe\u0301", "naïve", "Ωμέγα", "ёлка", "елка"],
  ...["src/a.ts:12", "src/ab.ts:123", "foo_bar", "a-b", "x->y()", "100%", "C:\\tmp", "<b>bold</b>"],
  ...[
    "数据库",
    "数据",
    "データベース",
    "각본",
    "ไทย",
    "👍",
    "👩‍💻",
    "İstanbul",
    "ΟΔΟΣ",
    "1e5x",
    "0x1F",
    "7E2A",
  ],
  ...["it's", "“quoted”", "tab\tbed", "two\nlines", "nbsp\u00a0here", "e-mail@example.org", "—"],
];
const PATTERNS = [
  ...["src/\\w+\\.ts:\\d+", "^the", "heron$", "caf.", "\\bthe\\b", "foo.bar|a-b", "[a-z]{6}"],
  ...[
    "数据.",
    "\\d{3}",
    "x->y\\(\\)",
    "nobody.said",
    "<\\w+>",
    "two\\nlines",
    "strasse",
    "(?:the )+",
  ],
];

const text = fc
  .array(fc.constantFrom(...WORDS, ...Array.from({ length: 12 }, () => "the")), {
    ...{ minLength: 1, maxLength: 12 },
  })
  .map((words) => words.join(" "));
const message: fc.Arbitrary<AgentMessage> = fc.oneof(
  text.map((content): AgentMessage => ({ role: "user", content })),
  text.map(
    (said): AgentMessage => ({
      ...{ role: "assistant", stopReason: "stop" },
      content: [
        { type: "text", text: said },
        { type: "toolCall", id: "c", name: "read", arguments: { path: said } },
      ],
    }),
  ),
  fc.tuple(text, fc.nat({ max: 40 })).map(
    ([said, size]): AgentMessage => ({
      ...{ role: "toolResult", toolCallId: "c", toolName: "read", isError: false },
      // The index takes none of it where it is long.
      content: [{ type: "text", text: size > 38 ? `${said} `.repeat(4000) : said }],
    }),
  ),
);
interface Step {
  session: string;
  messages: AgentMessage[];
  /** So many of the branch are taken back first. */
  back: number;
}

const step: fc.Arbitrary<Step> = fc.record({
  session: fc.constantFrom("main", "other", "agent:helper:main"),
  messages: fc.array(message, { minLength: 1, maxLength: 5 }),
  back: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.nat({ max: 4 })),
});
const query: fc.Arbitrary<SearchQuery> = fc.oneof(
  fc
    .constantFrom(...WORDS, "nobody said that", "h", "er", ".ts", "s:12", "E", "THE HERON", " ")
    .map((some) => ({ kind: "text" as const, text: some.trim() === "" ? "a" : some })),
  text.chain((some) =>
    fc.tuple(fc.nat({ max: 20 }), fc.integer({ min: 1, max: 9 })).map(([from, size]) => ({
      ...{ kind: "text" as const, text: some.slice(from, from + size).trim() || "heron" },
    })),
  ),
  fc
    .uniqueArray(fc.constantFrom(...WORDS.filter((word) => /[\p{L}\p{N}]/u.test(word))), {
      ...{ minLength: 1, maxLength: 3 },
    })
    .map((words) => ({ kind: "words" as const, text: words.join(" ") })),
  fc.constantFrom(...PATTERNS).map((some) => ({ kind: "pattern" as const, text: some })),
);
const FEWER = { numRuns: fc.readConfigureGlobal().numRuns! / 20 };

describe.skipIf(whyNoPostgres() !== null)(
  `what is found in sessions in PostgreSQL ${UNLESS_THERE}`,
  () => {
    const opened: PostgresStore<DeliveryLedger>[] = [];
    afterAll(() => Promise.all(opened.map((store) => store.close())));

    /** Both with the same clock and the same ids. */
    async function worlds() {
      const home = await temporaryHome();
      const files = createSessionStore({ home });
      const url = await testDatabase();
      const store = await openPostgresStore({
        ...{ url, ports: portsOfHome("home"), address: "http://127.0.0.1:1", ttlMs: 60_000 },
      });
      opened.push(store);
      const rows = createPostgresSessions({
        ...{ store, copies: join(home, "copies"), homeId: "home", reportBytes: 1_000_000 },
      });
      return { files, rows, store };
    }

    async function write(store: SessionStore, steps: readonly Step[]) {
      let [clock, ids] = [Date.parse("2026-11-01T10:00:00Z"), 0];
      for (const { session: key, messages, back } of steps) {
        const newId = () => `e${ids++}`;
        const session = await store.open({ key, cwd: "/", now: () => clock, newId });
        clock += 1000;
        const branch = session.branch();
        if (back > 0 && branch.length > back)
          await session.compaction.graft({
            ...{ keep: branch.length - back, leafId: branch.at(-1)!.id, entries: [] },
          });
        for (const each of messages) {
          await session.append([{ type: "message", message: each }]);
          clock += 1000;
        }
        await session.close();
      }
    }

    it("is what is found in the same sessions in files", { timeout: 300_000 }, async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(step, { minLength: 4, maxLength: 14 }),
          fc.array(
            fc.record({
              query,
              limit: fc.constantFrom(1, 3, 1000),
              everyBranch: fc.boolean(),
              session: fc.constantFrom(undefined, undefined, "main"),
            }),
            { minLength: 20, maxLength: 20 },
          ),
          async (steps, asked) => {
            const { files, rows, store } = await worlds();
            await write(files, steps);
            await write(rows, steps);
            const answers = async (sessions: SessionStore, search: typeof inFiles) => {
              const all = [];
              for (const { session, ...request } of asked) {
                const only = session && (await sessions.find(session));
                if (only === null) continue;
                const { found, partly } = await search.search({
                  ...{ ...request, session: only, says() {}, signal: new AbortController().signal },
                });
                all.push({ ...request, session, found, partly });
              }
              return all;
            };
            const inFiles = createFileSearch(files);
            const inRows = createPostgresSearch(store);
            const wanted = await answers(files, inFiles);
            expect(await answers(rows, inRows)).toEqual(wanted);
            // Of a part of it, and of all.
            await store.indexNext();
            expect(await answers(rows, inRows)).toEqual(wanted);
            while ((await store.indexNext()) > 0);
            expect(await answers(rows, inRows)).toEqual(wanted);
          },
        ),
        FEWER,
      );
    });
  },
);

import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { conversation, user } from "@clew/plugin-sdk/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { verifyStore } from "../../audit/verify.ts";
import { mend } from "../../operating/mend.ts";
import { catchUp } from "../../search/catch-up.ts";
import { READER } from "../../summaries/facts.ts";
import { growGraph } from "../../summaries/grow.ts";
import { type Dice, diceOf } from "../../testing/damage.ts";
import { namedWithIds, temporaryStore } from "../../testing/stored.ts";
import { temporaryFolder } from "../../testing/temporary-folder.ts";
import { forget } from "../forget.ts";
import { markLeft } from "../left.ts";
import { storeMessages } from "../messages.ts";
import { type Store, useStore } from "../store.ts";

const session = { sessionId: "s", sessionKey: "k" };

/** A closed database of which every table fills several pages. */
async function history(): Promise<string> {
  const path = join(temporaryFolder(), "lossless.db");
  const { store, release } = useStore(path);
  const messages = namedWithIds([
    ...conversation({ turns: 300 }),
    ...Array.from({ length: 40 }, (_, at) => user(`${at} ${"is long; ".repeat(900)}`)),
  ] as AgentMessage[]);
  storeMessages(store, { session, messages, from: "told" });
  const names = Array.from({ length: 500 }, (_, at) => `e${at}`);
  markLeft(store, { session, names, asked: "" }, READER);
  await growGraph(store, 1, { sizes: { leafTokens: 60, fanIn: 2, kept: 1 } });
  await catchUp(store);
  release();
  return path;
}

/** Two leaves of a table change places. */
function exchangePages(path: string, table: string, dice: Dice): void {
  const db = new DatabaseSync(path);
  const pages = db
    .prepare("SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY path")
    .all(table)
    .map(({ pageno }) => Number(pageno));
  db.close();
  expect(pages.length).toBeGreaterThan(1);
  const bytes = readFileSync(path);
  const size = bytes.readUInt16BE(16) || 65_536;
  const first = dice(pages.length - 1);
  const places = [first, first + 1 + dice(pages.length - 1 - first)];
  const [one, other] = places.map((at) => (pages[at]! - 1) * size) as [number, number];
  const exchanged = Buffer.from(bytes);
  bytes.copy(exchanged, one, other, other + size);
  bytes.copy(exchanged, other, one, one + size);
  writeFileSync(path, exchanged);
}

const TABLES = ["message", "link", "change", "payload", "summary", "words_data", "trigram_leaf"];
const SECONDS = 1_000;

describe("audits and examinations of any file", () => {
  it("end where pages of a table were exchanged, and find it", async () => {
    const healthy = await history();
    await fc.assert(
      fc.asyncProperty(
        ...[fc.constantFrom(...TABLES), fc.integer({ min: 0, max: 2 ** 31 })],
        async (table, seed) => {
          const path = `${healthy}.damaged`;
          copyFileSync(healthy, path);
          exchangePages(path, table, diceOf(seed));
          const { store, release } = useStore(path);
          try {
            const signal = AbortSignal.timeout(60 * SECONDS);
            const found = await verifyStore(store, { signal }).catch(String);
            expect(typeof found === "string" || !found.isWhole).toBe(true);
            await mend(store, { signal }).catch(String);
            expect(signal.aborted).toBe(false);
          } finally {
            release();
          }
        },
      ),
      { numRuns: fc.readConfigureGlobal().numRuns! / 4 },
    );
  });

  it("find rows whose numbers nobody gives", async () => {
    const store = temporaryStore();
    storeMessages(store, {
      session,
      messages: namedWithIds(conversation({ turns: 3 })),
      from: "told",
    });
    const kindsAfter = async (sql: string) => {
      store.change((write) => write(sql).run());
      const { faults } = await verifyStore(store);
      return faults.map(({ kind, what, number }) => `${kind} ${what} ${number}`);
    };
    expect(
      await kindsAfter(
        "INSERT INTO message SELECT -9, conversation, 'x', turn, role, time, flags, body FROM message WHERE seq = 1",
      ),
    ).toContain("added message -9");
    expect(
      await kindsAfter("INSERT INTO payload (id, hash, text) VALUES (-3, x'00', 'x')"),
    ).toContain("changed payload -3");
  });
});

describe("an audit of a database at work", () => {
  const LONG = "a text of many words; ".repeat(300);
  /** Tells of one more message each time, and damages what it is stored as. */
  const more = (store: Store, at: number, damage?: string) => {
    const messages = namedWithIds([user(`more ${at} ${LONG}`)], `more${at} `);
    storeMessages(store, { session, messages, from: "told" });
    if (damage !== undefined) store.change((sql) => sql(damage).run());
  };

  it.each([
    ["messages", "UPDATE message SET turn = turn + 1 WHERE seq = (SELECT max(seq) FROM message)"],
    ["payloads", "UPDATE payload SET text = 'other' WHERE id = (SELECT max(id) FROM payload)"],
    ["summaries", "UPDATE payload SET text = 'other' WHERE id = (SELECT max(id) FROM payload)"],
    ["search index", "UPDATE message SET role = 'x' WHERE seq = (SELECT max(seq) FROM message)"],
    [
      "search index",
      "INSERT INTO message SELECT -1, 1, 'x', 1, role, time, 0, body FROM message WHERE seq = 1",
    ],
  ])("names what is damaged of what came while it read %s", async (during, damage) => {
    const store = temporaryStore();
    const messages = namedWithIds(conversation({ turns: 40 }));
    storeMessages(store, { session, messages, from: "told" });
    await catchUp(store);
    let told = 0;
    const found = await verifyStore(store, {
      onProgress: ({ part }) => {
        if (part === during && told++ === 0) more(store, 0, damage);
      },
    });
    expect(told).toBeGreaterThan(0);
    expect(found).toMatchObject({ isWhole: false });
  });

  it("ends while somebody stores without a pause, has read all, and finds nothing", async () => {
    const store = temporaryStore();
    const messages = namedWithIds(conversation({ turns: 40 }));
    storeMessages(store, { session, messages, from: "told" });
    let told = 0;
    const found = await verifyStore(store, { onProgress: () => more(store, told++) });
    expect(found.faults).toEqual([]);
    expect(found.messages).toBe(80 + told);
    expect(found.payloads).toBe(told);
  });

  it("finds nothing where something is forgotten meanwhile", async () => {
    const store = temporaryStore();
    const messages = namedWithIds(conversation({ turns: 200 }));
    storeMessages(store, { session, messages, from: "told" });
    await growGraph(store, 1, { sizes: { leafTokens: 60, fanIn: 2, kept: 1 } });
    let next = 1;
    const found = await verifyStore(store, {
      onProgress: ({ part }) => {
        if (part !== "messages" && part !== "summaries") return;
        if (next < 40) forget(store, { numbers: [next++], sessions: [] }, READER);
      },
    });
    expect(found).toMatchObject({ faults: [], forgotten: next - 1, messages: 400 });
  });
});

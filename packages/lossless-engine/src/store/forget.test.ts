import { readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { zstdCompressSync } from "node:zlib";
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { assistant, conversation, toolCall, toolResult, user } from "@clew/plugin-sdk/testing";
import { withMessageId } from "@clew/plugin-sdk/transcript";
import { describe, expect, it } from "vitest";
import { verifyStore } from "../audit/verify.ts";
import { planForget } from "../forget/plan.ts";
import { openMessageStore } from "../library/message-store.ts";
import { READER } from "../summaries/facts.ts";
import { growGraph } from "../summaries/grow.ts";
import { killedBeforeEachStatement } from "../testing/statement-kills.ts";
import { namedWithIds, temporaryStore } from "../testing/stored.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";
import { withTrigrams } from "./candidates.ts";
import { expire, forget } from "./forget.ts";
import { gravesIn } from "./graves.ts";
import { markLeft } from "./left.ts";
import { readMessages, storeMessages } from "./messages.ts";
import { isStale, scrub } from "./scrub.ts";
import { indexMore } from "./search-index.ts";
import { type Store, useStore } from "./store.ts";
import { coverageOfConversation, storeWords } from "./summaries.ts";

const session = { sessionId: "s", sessionKey: "agent:main:s" };
const SECRET = "Zanzibarquux-4711";
const LONG = `${SECRET} `.repeat(600);

const told = [
  ...conversation({ turns: 30, tools: 1, toolResultChars: 300 }),
  user(`the password is ${SECRET}, keep it`),
  assistant([toolCall("save", { password: SECRET }, "call-secret")]),
  toolResult({ id: "call-secret", name: "save" }, LONG),
  ...conversation({ turns: 30, tools: 1, toolResultChars: 300 }),
];

function stored(store: Store, messages = told, of = session, prefix = "e"): void {
  storeMessages(store, { session: of, messages: namedWithIds(messages, prefix), from: "told" });
  for (let pieces = 0; pieces < 4; pieces++) while (!indexMore(store, () => false));
}

const all = (store: Store) => readMessages(store, { conversation: 1, limit: 10_000 });

async function forgetText(store: Store, text = SECRET): Promise<number[]> {
  const { messages, refused } = await planForget(store, { text });
  expect(refused).toEqual([]);
  const numbers = messages.map(({ number }) => number);
  forget(store, { numbers, sessions: [] }, READER);
  await scrub(store);
  return numbers;
}

const summariesIn = (store: Store) =>
  JSON.stringify(store.read((sql) => sql("SELECT * FROM summary").all()));

/** All bytes of the database and of what stands beside it. */
const bytesBeside = (store: Store) =>
  readdirSync(dirname(store.path))
    .map((name) =>
      readFileSync(join(dirname(store.path), name))
        .toString("latin1")
        .toLowerCase(),
    )
    .join("");

describe("forgetting", () => {
  it("takes a call with its result, and leaves no word of them in any byte beside the database", async () => {
    const store = temporaryStore();
    stored(store);
    await growGraph(store, 1, { sizes: { leafTokens: 120, fanIn: 2, kept: 1 } });
    expect(summariesIn(store)).toContain(SECRET);
    expect(bytesBeside(store)).toContain("zanzibarquux");
    const numbers = await forgetText(store);
    expect(numbers).toHaveLength(3);
    expect(bytesBeside(store)).not.toContain("zanzibarquux");
    expect(bytesBeside(store)).not.toContain("zanzibar");
    const [asked, call, result] = all(store).filter(({ seq }) => numbers.includes(seq));
    expect(asked!.message).toMatchObject({ role: "user", __openclaw: { id: asked!.name } });
    expect(call!.message).toMatchObject({
      role: "assistant",
      content: [{ type: "text" }, { type: "toolCall", id: "call-secret", arguments: {} }],
    });
    expect(result!.message).toMatchObject({ role: "toolResult", toolCallId: "call-secret" });
    const verified = await verifyStore(store);
    expect(verified.faults).toEqual([]);
    expect(verified).toMatchObject({ isWhole: true, forgotten: 3, expired: 0 });
    const everywhere = { conversations: null, limit: 100 };
    expect(withTrigrams(store, SECRET, everywhere)).toEqual([]);
  });

  it("takes a message out of groups of the index, and leaves all others there", async () => {
    const store = temporaryStore();
    const many = conversation({ turns: 900, tools: 1, toolResultChars: 1_500 });
    stored(store, [...told, ...many]);
    const groups = store.read((sql) => sql("SELECT count(*) AS n FROM trigram_group").get()!.n);
    expect(Number(groups)).toBeGreaterThan(0);
    const everywhere = { conversations: null, limit: 10_000 };
    const before = withTrigrams(store, "item", everywhere);
    const numbers = await forgetText(store);
    expect(withTrigrams(store, "anzibar", everywhere)).toEqual([]);
    expect(withTrigrams(store, "item", everywhere)).toEqual(
      before.filter((seq) => !numbers.includes(seq)),
    );
    expect((await verifyStore(store)).faults).toEqual([]);
  });

  it("does not let it come back under its id, under another, or in another session", async () => {
    const store = temporaryStore();
    stored(store);
    await forgetText(store);
    stored(store);
    stored(store, told, { sessionId: "copy", sessionKey: "agent:main:copy" }, "other");
    expect(JSON.stringify(readMessages(store, { conversation: 2, limit: 1_000 }))).not.toContain(
      SECRET,
    );
    await scrub(store);
    expect(bytesBeside(store)).not.toContain("zanzibar");
    expect(await verifyStore(store)).toMatchObject({ faults: [], forgotten: 6 });
  });

  it("waits for whoever reads the file, so that its journal holds nothing either", async () => {
    const store = temporaryStore();
    stored(store);
    const moment = store.snapshot();
    setTimeout(moment.close, 300);
    await forgetText(store);
    expect(bytesBeside(store)).not.toContain("zanzibar");
  });

  it("keeps a long text that another message holds", async () => {
    const store = temporaryStore();
    const twice = [
      ...told.slice(0, 3),
      user("one"),
      user("x".repeat(9_000)),
      user("two"),
      user("x".repeat(9_000)),
    ];
    stored(store, twice);
    const [first] = all(store).filter(({ hasFiles }) => hasFiles);
    forget(store, { numbers: [first!.seq], sessions: [] }, READER);
    await scrub(store);
    expect(all(store).at(-1)!.message).toMatchObject({ content: "x".repeat(9_000) });
    expect((await verifyStore(store)).faults).toEqual([]);
  });

  it("forgets a session with its name", async () => {
    const store = temporaryStore();
    stored(store);
    const plan = await planForget(store, { session });
    expect(plan.messages).toHaveLength(told.length);
    forget(
      store,
      { numbers: plan.messages.map(({ number }) => number), sessions: [session] },
      READER,
    );
    await scrub(store);
    expect(bytesBeside(store)).not.toContain("agent:main:s");
    expect(bytesBeside(store)).not.toContain("item 1");
    expect(await verifyStore(store)).toMatchObject({ faults: [], forgotten: told.length });
  });

  it("is no damage where the message was marked or renamed since it was stored", async () => {
    const store = temporaryStore();
    stored(store);
    markLeft(store, { session, names: ["e3", "e4"], asked: "" }, READER);
    expect(forget(store, { numbers: [7, 8], sessions: [] }, READER)).toBe(2);
    expect((await verifyStore(store)).faults).toEqual([]);
  });

  it("leaves damage that was there before to be found", async () => {
    const store = temporaryStore();
    stored(store);
    const last = all(store).at(-1)!.seq;
    store.change((sql) => sql("UPDATE message SET body = ? WHERE seq = ?").run("{}", last));
    await forgetText(store);
    const { faults } = await verifyStore(store);
    expect(faults.map(({ number }) => number)).toEqual([last]);
  });

  it("blesses no words that somebody exchanged behind it, nor an end that is gone", async () => {
    const forged = temporaryStore();
    stored(forged);
    const { seq } = all(forged).findLast(({ message }) => message.role === "user")!;
    const body = JSON.stringify({ role: "user", content: "forged" });
    forged.change((sql) => sql("UPDATE message SET body = ? WHERE seq = ?").run(body, seq));
    await forgetText(forged);
    expect((await verifyStore(forged)).faults).toContainEqual(
      expect.objectContaining({ kind: "changed", what: "message", number: seq }),
    );

    const torn = temporaryStore();
    stored(torn);
    const last = all(torn).at(-1)!.seq;
    torn.change((sql) => {
      sql("DELETE FROM unindexed WHERE message = ?").run(last);
      sql("DELETE FROM link WHERE message = ?").run(last);
      sql("DELETE FROM message WHERE seq = ?").run(last);
    });
    await forgetText(torn);
    expect((await verifyStore(torn)).faults).toContainEqual(
      expect.objectContaining({ kind: "missing", what: "conversation", number: 1 }),
    );
  });

  it("tells other databases of what was forgotten, and not of what is no longer kept", () => {
    const store = temporaryStore();
    stored(store);
    forget(store, { numbers: [3], sessions: [] }, READER);
    expire(store, [1, 2]);
    const [own] = store.read(gravesIn);
    expect(own!.hashes.size).toBe(1);
  });

  it("is found by the audit where its hash is taken away or exchanged", async () => {
    for (const change of [
      "DELETE FROM forgotten WHERE message = (SELECT min(message) FROM forgotten)",
      "UPDATE forgotten SET hash = zeroblob(32)",
      "UPDATE forgetting SET salt = zeroblob(32)",
    ]) {
      const store = temporaryStore();
      stored(store);
      await forgetText(store);
      store.change((sql) => sql(change).run());
      expect((await verifyStore(store)).isWhole).toBe(false);
    }
  });

  it("refuses what stands in the name of a tool", async () => {
    const store = temporaryStore();
    stored(store);
    const { refused } = await planForget(store, { text: "call-secret" });
    expect(refused[0]).toContain("name or id of a tool call");
  });
});

describe("what is no longer kept", () => {
  it("leaves placeholders that the audit knows, and does not come back", async () => {
    const store = temporaryStore();
    stored(store);
    const old = all(store)
      .slice(0, 40)
      .map(({ seq }) => seq);
    expect(expire(store, old)).toBe(40);
    expect(expire(store, old)).toBe(0);
    stored(store);
    expect(await verifyStore(store)).toMatchObject({ faults: [], forgotten: 0, expired: 40 });
    expect(all(store)).toHaveLength(told.length);
    expect(await forgetText(store)).toHaveLength(3);
    expect((await verifyStore(store)).faults).toEqual([]);
  });
});

describe("what is forgotten after it was no longer kept", () => {
  const aged = told.map((message, at) => ({ ...message, timestamp: at + 1 }));

  async function letGo() {
    const path = join(temporaryFolder(), "lossless.db");
    const { store, release } = useStore(path);
    stored(store, aged);
    await growGraph(store, 1, { sizes: { leafTokens: 200, fanIn: 3, kept: 0 } });
    store.change((sql) =>
      sql(`INSERT INTO cut (conversation, name, first, estimate, high, covered, record)
        VALUES (1, 'c', 'e0', 1, 1, 1, ?)`).run(`quoted: ${SECRET}`),
    );
    for (const { seq } of all(store)) expire(store, [seq]);
    const derived = () =>
      store.read((sql) => [
        ...sql("SELECT days AS text FROM summary").all(),
        ...sql("SELECT record AS text FROM cut").all(),
      ]);
    const holding = () => derived().filter(({ text }) => String(text).includes(SECRET)).length;
    return { path, store, release, holding };
  }

  it.each([
    ["a text", { text: SECRET }],
    ["a session", { session: { ...session, owner: "" } }],
  ] as const)("goes from summaries, records and pages when %s is asked for", async (_, request) => {
    const { path, store, release, holding } = await letGo();
    expect(holding()).toBeGreaterThan(0);
    const { messages, refused } = await planForget(store, request as never);
    expect(refused).toEqual([]);
    forget(store, { numbers: messages.map(({ number }) => number), sessions: [] }, READER);
    expect(holding()).toBe(0);
    expect(await verifyStore(store)).toMatchObject({ faults: [] });
    expect((await planForget(store, request as never)).messages).toEqual([]);
    await scrub(store);
    release();
    expect(readFileSync(path).includes(SECRET)).toBe(false);
  });

  it.each([
    ["in a packed ledger", { ledger: SECRET, record: "" }],
    ["with other blanks", { ledger: "", record: "she said zanzibarquux-4711 is 'the one'" }],
    ["up to where a quotation ends", { ledger: "", record: `"${SECRET} is…" and more` }],
  ])("is found where it stands only %s", async (_, { ledger, record }) => {
    const store = temporaryStore();
    stored(store, [user("hello"), user("ok")]);
    expire(store, [1, 2]);
    store.change((sql) =>
      sql(`INSERT INTO cut (conversation, name, first, estimate, high, covered, record, ledger)
        VALUES (1, 'c', 'e0', 1, 1, 1, ?, ?)`).run(
        ...[record, zstdCompressSync(JSON.stringify({ names: { [ledger]: [1] } }))],
      ),
    );
    const text = `${SECRET}${record === "" ? "" : ` is\n "the  one"`}`;
    const { messages } = await planForget(store, { text });
    expect(messages.map(({ number, why }) => [number, why])).toEqual([
      [1, "quoted"],
      [2, "quoted"],
    ]);
  });

  it("goes by its number, and stays known when it is told again", async () => {
    const { store, release } = await letGo();
    const { seq } = all(store)[told.findIndex(({ role }) => role === "user")]!;
    const { messages } = await planForget(store, { number: seq });
    expect(messages.map(({ number }) => number)).toEqual([seq]);
    expect(forget(store, { numbers: [seq], sessions: [] }, READER)).toBe(1);
    expect(forget(store, { numbers: [seq], sessions: [] }, READER)).toBe(0);
    stored(store, aged, { sessionId: "t", sessionKey: "agent:main:t" }, "other");
    const again = readMessages(store, { conversation: 2, limit: 10_000 });
    expect(again.every(({ isForgotten }) => isForgotten === true)).toBe(true);
    expect((await verifyStore(store)).faults).toEqual([]);
    release();
  });

  it("leaves pages that hold it to be written anew by whoever forgets next", async () => {
    const { path, store, release } = await letGo();
    expect(isStale(store)).toBe(true);
    release();
    const library = openMessageStore(path);
    await library.forget({ numbers: [], sessions: [] });
    expect(await library.isStale()).toBe(false);
    library.close();
  });
});

describe("words of a model", () => {
  it("that hold it go from their summaries and records, though no message says them", async () => {
    const store = temporaryStore();
    stored(store);
    await growGraph(store, 1, { sizes: { leafTokens: 200, fanIn: 3, kept: 0 } });
    const [leaf] = coverageOfConversation(store, 1).frontier;
    storeWords(store, leaf!, { words: "A paraphrase of Quuxville was agreed on.", model: "m" });
    const plan = await planForget(store, { text: "quuxville" });
    expect(plan).toMatchObject({ messages: [], summaries: [leaf!.id], refused: [] });
    expect(forget(store, { numbers: [], ...plan }, READER)).toBe(0);
    expect((await planForget(store, { text: "quuxville" })).summaries).toEqual([]);
    expect(isStale(store)).toBe(true);
    expect((await verifyStore(store)).faults).toEqual([]);
  });
});

describe("a summary that the host wrote", () => {
  const summary = { role: "compactionSummary", summary: "They agreed on a word." } as AgentMessage;
  const talk = [
    user("before"),
    summary,
    user(`it is ${SECRET}`),
    user("then"),
    summary,
    user("on"),
  ];

  it("goes with the messages before it, for it tells of them in words of its own", async () => {
    const store = temporaryStore();
    stored(store, talk);
    for (const request of [{ number: 3 }, { id: "e2" }, { text: SECRET }]) {
      const { messages } = await planForget(store, request);
      expect(messages.map(({ number, why }) => [number, why])).toEqual([
        [3, "asked"],
        [5, "summary"],
      ]);
    }
    expect(await forgetText(store)).toEqual([3, 5]);
    expect(JSON.stringify(all(store)[4])).not.toContain("agreed");
    expect(JSON.stringify(all(store)[1])).toContain("agreed");
    expect((await verifyStore(store)).faults).toEqual([]);
  });
});

describe("messages without a time", () => {
  const yes = (id: string, content = "yes") => [
    { message: withMessageId({ role: "user", content } as AgentMessage, id), name: id },
  ];

  it("are forgotten one by one: what says the same under another id stays", async () => {
    const store = temporaryStore();
    storeMessages(store, { session, messages: yes("a"), from: "told" });
    forget(store, { numbers: [1], sessions: [] }, READER);
    const next = { sessionId: "n", sessionKey: "agent:main:n" };
    storeMessages(store, { session: next, messages: yes("b"), from: "told" });
    storeMessages(store, { session: next, messages: yes("a"), from: "told" });
    const told = readMessages(store, { conversation: 2, limit: 10 });
    expect(told.map(({ isForgotten = false }) => isForgotten)).toEqual([false, true]);
  });

  it("that only think or fail are not taken for each other", async () => {
    const store = temporaryStore();
    const thinks = (thinking: string, id: string) => {
      const content = [{ type: "thinking", thinking }];
      return { name: id, message: { role: "assistant", content, timestamp: 5 } as AgentMessage };
    };
    storeMessages(store, { session, messages: [thinks("one", "a")], from: "told" });
    forget(store, { numbers: [1], sessions: [] }, READER);
    storeMessages(store, { session, messages: [thinks("another", "b")], from: "told" });
    expect(all(store).map(({ isForgotten = false }) => isForgotten)).toEqual([true, false]);
  });
});

describe("a process that is killed while it forgets", () => {
  it("has forgotten all or nothing, and the next one completes it", async () => {
    const file = join(temporaryFolder(), "lossless.db");
    const { store, release } = useStore(file);
    stored(store);
    const { messages } = await planForget(store, { text: SECRET });
    const numbers = messages.map(({ number }) => number);
    release();
    const copies = killedBeforeEachStatement(file, () => {
      const use = useStore(file);
      forget(use.store, { numbers, sessions: [] }, READER);
      use.release();
    });
    expect(copies.length).toBeGreaterThan(100);
    for (const copy of copies.filter((_, at) => at % 20 === 0 || at > copies.length - 5)) {
      const use = useStore(copy);
      const { forgotten, faults } = await verifyStore(use.store);
      expect([0, 3]).toContain(forgotten);
      expect(faults).toEqual([]);
      forget(use.store, { numbers, sessions: [] }, READER);
      await scrub(use.store);
      expect(await verifyStore(use.store)).toMatchObject({ faults: [], forgotten: 3 });
      expect(bytesBeside(use.store)).not.toContain("zanzibar");
      use.release();
      rmSync(dirname(copy), { recursive: true });
    }
  }, 120_000);
});

// What copies of a database hold of what is forgotten is found wherever it stands in them.
import { copyFileSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { zstdCompressSync } from "node:zlib";
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { assistant, conversation, toolCall, toolResult, user } from "@clew/plugin-sdk/testing";
import { describe, expect, it } from "vitest";
import { verifyStore } from "../audit/verify.ts";
import type { ForgetRequest } from "../forget/plan.ts";
import { openMessageStore } from "../library/message-store.ts";
import { backUpStore } from "../library/operate.ts";
import { storeCut } from "../store/cuts.ts";
import { expire } from "../store/forget.ts";
import { storeMessages } from "../store/messages.ts";
import { isStale, scrub } from "../store/scrub.ts";
import { type Store, useStore } from "../store/store.ts";
import { storeWords, summariesWithoutWords } from "../store/summaries.ts";
import { growGraph } from "../summaries/grow.ts";
import { namedWithIds } from "../testing/stored.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";
import { copiesHolding, inspectBackups } from "./held.ts";
import { restoreStore } from "./restore.ts";

const SECRET = 'Zanzibärquux "4711"';
/** Stands in every form of it. */
const TRACE = "anzib";
const NOW = Date.UTC(2026, 5, 1);
const session = { sessionId: "s", sessionKey: "k" };
const asked = { ...user(`The password is ${SECRET}.`), timestamp: NOW } as AgentMessage;
const told = [...conversation({ turns: 4 }), asked, ...conversation({ turns: 4 })];
/** Its number. */
const ASKED = 9;

async function changed(file: string, change: (store: Store) => unknown): Promise<void> {
  const { store, release } = useStore(file);
  try {
    await change(store);
  } finally {
    release();
  }
}

const cutQuoting = (record: string, ledger: string) => ({
  ...{ name: "c", first: "e12", request: null, ceiling: 8_000, covered: 12, time: null },
  ...{ tokens: { estimate: 10, high: 12 }, parts: new Map(), record, ledger },
});

/** A database in which the secret is no longer kept, and is quoted. */
async function quoting({ record = "It stands here.", ledger = "{}", grows = false } = {}) {
  const file = join(temporaryFolder(), "lossless.db");
  await changed(file, async (store) => {
    storeMessages(store, { session, messages: namedWithIds(told), from: "told" });
    if (grows) await growGraph(store, 1, { sizes: { leafTokens: 60, fanIn: 2, kept: 1 } });
    storeCut(store, { session, messages: [], cut: cutQuoting(record, ledger) });
    expire(store, [ASKED]);
  });
  return file;
}

const copyOf = async (file: string) => (await backUpStore(file, { now: NOW })).file;

const whatHolds = async (files: readonly string[], text: string) =>
  (await copiesHolding(files, { graves: [], text })).map(({ what }) => what);

const holding = (folder: string) =>
  readdirSync(folder).filter((name) => readFileSync(join(folder, name), "latin1").includes(TRACE));

async function forgotten(file: string, request: ForgetRequest, messages: AgentMessage[] = []) {
  const store = openMessageStore(file);
  const plan = await store.planForget(request);
  const whole = await store.planElsewhere(plan, { messages, graves: [] });
  const numbers = whole.messages.map(({ number }) => number);
  await store.forget({ ...whole, numbers });
  store.close();
  return numbers;
}

describe("a copy", () => {
  it("is found by what its summaries, records and ledgers quote", async () => {
    for (const [what, file] of Object.entries({
      summary: await quoting({ grows: true }),
      record: await quoting({ record: `They said: ${SECRET}` }),
      ledger: await quoting({ ledger: JSON.stringify({ pins: [SECRET] }) }),
    })) {
      const copy = await copyOf(file);
      expect([what, await whatHolds([copy], SECRET.toUpperCase())]).toEqual([what, ["quotations"]]);
      expect([what, await whatHolds([copy], "nobody said that")]).toEqual([what, []]);
    }
  });

  it("is found by words in any part of its messages that a search reads", async () => {
    const file = join(temporaryFolder(), "lossless.db");
    const messages = [
      user("Keep them."),
      assistant([toolCall("save", { [SECRET]: 4711, other: { code: 815 } }, "call")]),
      toolResult({ id: "call", name: "save" }, "kept"),
    ];
    await changed(file, (store) =>
      storeMessages(store, { session, messages: namedWithIds(messages), from: "told" }),
    );
    expect(await whatHolds([file], SECRET)).toEqual(["messages"]);
    expect(await whatHolds([file], '"code":815')).toEqual(["messages"]);
  });

  it("is found by long texts that no message holds, and by messages that cannot be read", async () => {
    const file = await quoting();
    const orphan = `${file}.copy-orphan`;
    const damaged = `${file}.copy-damaged`;
    for (const copy of [orphan, damaged]) copyFileSync(await copyOf(file), copy);
    const db = new DatabaseSync(orphan);
    db.prepare("INSERT INTO payload (hash, text) VALUES (x'00', ?)").run(zstdCompressSync(SECRET));
    db.close();
    const other = new DatabaseSync(damaged);
    other.prepare("UPDATE message SET body = ? WHERE seq = 3").run(`{"role":"?","t":"${SECRET[0]}`);
    other.prepare("UPDATE message SET body = x'00' WHERE seq = 4").run();
    other.close();
    expect(await whatHolds([orphan], SECRET)).toEqual(["quotations"]);
    expect(await whatHolds([damaged], SECRET)).toEqual(["unknown"]);
  });

  it("may hold in its pages what is no longer kept, unless it was made as a backup", async () => {
    const file = await quoting();
    const raw = `${file}.copy-raw`;
    await changed(file, (store) => expect(isStale(store)).toBe(true));
    copyFileSync(file, raw);
    expect(await whatHolds([raw], "anything")).toEqual(["pages"]);
    const store = openMessageStore(file);
    const graves = [await store.gravesOf([1])];
    store.close();
    expect(await copiesHolding([raw], { graves: [], text: null })).toEqual([]);
    expect(await copiesHolding([raw], { graves, text: null })).toMatchObject([{ file: raw }]);
    const copy = await copyOf(file);
    await changed(copy, (made) => expect(isStale(made)).toBe(false));
    expect(await whatHolds([copy], SECRET)).toEqual([]);
    expect(readFileSync(copy, "latin1")).not.toContain(TRACE);
  });

  it("may hold in its pages what a record said that is no longer there", async () => {
    const file = await quoting({ ledger: JSON.stringify([SECRET]) });
    await changed(file, async (store) => {
      await scrub(store);
      expect(isStale(store)).toBe(false);
      const next = { ...cutQuoting("It stands there.", "{}"), name: "next" };
      storeCut(store, { session, messages: [], cut: next });
      expect(isStale(store)).toBe(true);
    });
  });

  it("is found where it may quote what is asked for by its number, and is no longer kept", async () => {
    const file = await quoting({ grows: true });
    const copy = await copyOf(file);
    const store = openMessageStore(file);
    const sought = { graves: [await store.gravesOf([ASKED])], text: null };
    expect(await copiesHolding([copy], sought)).toMatchObject([{ what: "quotations" }]);
    store.close();
    expect(await forgotten(file, { number: ASKED })).toEqual([ASKED]);
    const [listed] = await inspectBackups(file);
    expect(listed).toMatchObject({ file: copy, forgotten: 1 });
    const clean = (await backUpStore(file, { now: NOW + 1 })).file;
    expect(await copiesHolding([clean], sought)).toEqual([]);
  });
});

describe("restoring a backup from elsewhere", () => {
  const restored = (from: string, file: string) =>
    restoreStore({ from, file, agentDirs: [], now: NOW + 2 });
  const away = async (file: string) => {
    const copy = join(temporaryFolder(), "away");
    const made = await copyOf(file);
    copyFileSync(made, copy);
    rmSync(made);
    return copy;
  };
  const soundIn = async (file: string) => {
    await changed(file, async (store) => expect((await verifyStore(store)).faults).toEqual([]));
    for (const name of readdirSync(dirname(file)))
      if (name.includes(".replaced-")) rmSync(join(dirname(file), name));
    expect(holding(dirname(file))).toEqual([]);
    expect(await whatHolds([file], SECRET)).toEqual([]);
  };

  it("keeps out what it quotes of messages that it no longer keeps", async () => {
    const file = await quoting({ grows: true, record: SECRET, ledger: JSON.stringify([SECRET]) });
    const backup = await away(file);
    expect(await forgotten(file, { number: ASKED })).toEqual([ASKED]);
    await soundIn(file);
    const { forgotten: keptOut, text } = await restored(backup, file);
    expect(keptOut).toEqual({ messages: 1, unknown: null });
    expect(text).toContain("1 message that was forgotten since stayed out");
    await soundIn(file);
  });

  it("keeps out what a model said in a summary, which was forgotten by what it said", async () => {
    const file = join(temporaryFolder(), "lossless.db");
    await changed(file, async (store) => {
      const messages = namedWithIds(told.filter((message) => message !== asked));
      storeMessages(store, { session, messages, from: "told" });
      await growGraph(store, 1, { sizes: { leafTokens: 60, fanIn: 2, kept: 1 } });
      const [first] = summariesWithoutWords(store, { conversation: 1, limit: 1 });
      storeWords(store, first!, { words: `It was ${SECRET}.`, model: "m" });
    });
    const backup = await away(file);
    await forgotten(file, { text: SECRET });
    await soundIn(file);
    await restored(backup, file);
    await soundIn(file);
  });

  it("keeps out what was no longer kept when it was forgotten, known by its transcript", async () => {
    const file = join(temporaryFolder(), "lossless.db");
    await changed(file, (store) =>
      storeMessages(store, { session, messages: namedWithIds(told), from: "told" }),
    );
    const backup = await away(file);
    await changed(file, (store) => expire(store, [ASKED]));
    const [entry] = namedWithIds(told).slice(ASKED - 1);
    expect(await forgotten(file, { text: SECRET }, [entry!.message])).toEqual([ASKED]);
    expect((await restored(backup, file)).forgotten).toEqual({ messages: 1, unknown: null });
    await soundIn(file);
  });

  it("keeps out what its messages said until they were told whole", async () => {
    const file = join(temporaryFolder(), "lossless.db");
    const seen = told.map((message) => ({ ...message, content: `${SECRET}…` }) as AgentMessage);
    await changed(file, (store) =>
      storeMessages(store, { session, messages: namedWithIds(seen).slice(8, 9), from: "seen" }),
    );
    const backup = await away(file);
    await changed(file, (store) =>
      storeMessages(store, { session, messages: namedWithIds(told).slice(8, 9), from: "told" }),
    );
    expect(await forgotten(file, { number: 1 })).toEqual([1]);
    expect((await restored(backup, file)).forgotten).toEqual({ messages: 1, unknown: null });
    await soundIn(file);
  });
});

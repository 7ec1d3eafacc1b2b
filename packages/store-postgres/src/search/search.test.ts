import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as after } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openPostgresStore, type PostgresStore } from "../store.ts";
import { runSql } from "../testing/server.ts";
import { testDatabase, UNLESS_THERE, whyNoPostgres } from "../testing/shared.ts";
import { type ListLedger, SIMPLE_PORTS, said, wordsOfLine } from "../testing/simple-ports.ts";
import type { MessageSearchRequest } from "./search.ts";

const PORTS = { ...SIMPLE_PORTS, searchText: wordsOfLine };
const WORKER = fileURLToPath(new URL("../testing/fill-worker.ts", import.meta.url));

describe.skipIf(whyNoPostgres() !== null)(`a search in PostgreSQL ${UNLESS_THERE}`, () => {
  let url: string;
  let store: PostgresStore<ListLedger>;
  let other: PostgresStore<ListLedger>;
  let names = 0;
  beforeAll(async () => {
    url = await testDatabase();
    const options = { url, ports: PORTS, ttlMs: 60_000 };
    store = await openPostgresStore({ ...options, address: "http://one" });
    other = await openPostgresStore({ ...options, address: "http://two" });
  });
  afterAll(() => Promise.all([store, other].map((each) => each?.close())));

  /** Sessions of an agent that no other test has. */
  function agent() {
    const agentId = `agent ${names++}`;
    const open = (key: string) => store.open({ agentId, key });
    const find = async (text: string, more: Partial<MessageSearchRequest<string>> = {}) => {
      const answer = await store.search<string>({
        ...{ agentId, needs: { literals: [text], words: [] }, limit: 50, boundMs: 10_000 },
        accepts: (line) => {
          const said = wordsOfLine(line);
          return said?.toLowerCase().includes(text.toLowerCase()) ? said : undefined;
        },
        ...more,
      });
      return answer;
    };
    const texts = async (text: string, more: Partial<MessageSearchRequest<string>> = {}) =>
      (await find(text, more)).hits.map(({ value }) => value);
    return { agentId, open, find, texts };
  }
  async function fill(by = store): Promise<void> {
    while ((await by.indexNext()) > 0);
  }
  const count = async (sql: string) => Number((await runSql(url, sql))[0]?.count);

  it("finds the same before and after its index is filled, newest first", async () => {
    const { open, texts, find } = agent();
    const [one, two] = [await open("one"), await open("two")];
    await one.append([said("First in src/a.ts:12.")]);
    await after(2);
    await two.append([said("Second in SRC/A.TS:12, too."), said("Nothing of that.")]);
    await after(2);
    await one.append([said("Third: src/a.ts:123")]);
    const wanted = ["Third: src/a.ts:123", "Second in SRC/A.TS:12, too.", "First in src/a.ts:12."];
    expect(await texts("src/a.ts:12")).toEqual(wanted);
    await fill();
    expect(await texts("src/a.ts:12")).toEqual(wanted);
    expect(await texts("src/a.ts:12", { limit: 2 })).toEqual(wanted.slice(0, 2));
    const { session } = one;
    expect(await texts("in src/a", { sessionId: session.sessionId })).toEqual([wanted[2]]);
    expect(await texts("nobody said that")).toEqual([]);
    // A part of it is in the index, and a part is not.
    await two.append([said("Fourth, src/a.ts:12")]);
    expect(await texts("src/a.ts:12")).toEqual(["Fourth, src/a.ts:12", ...wanted]);
    expect(await find("src/a")).toMatchObject({ hasTrigrams: true, isBehind: false });
    await Promise.all([one.close(), two.close()]);
  });

  it("knows what left the branch of its session", async () => {
    const { open, texts, find } = agent();
    const session = await open("rewritten");
    const [, two] = await session.append(["stay 1", "go 2", "stay 3"].map(said));
    await fill();
    await session.rewrite({
      replacements: [{ entryId: two!.id, message: { role: "user", content: "come 2" } }],
    });
    for (const isFilled of [false, true]) {
      if (isFilled) await fill();
      expect(await texts("go 2")).toEqual([]);
      expect((await texts("2")).toSorted()).toEqual(["come 2"]);
      expect(await texts("stay")).toHaveLength(2);
      const { hits } = await find("go 2", { everyBranch: true });
      expect(hits).toMatchObject([{ value: "go 2", isOnBranch: false, key: "rewritten" }]);
    }
    await session.close();
  });

  it("tells an agent nothing of another one's sessions", async () => {
    const [mine, theirs] = [agent(), agent()];
    const session = await theirs.open("secret");
    await session.append([said("the secret word is heron")]);
    for (const isFilled of [false, true]) {
      if (isFilled) await fill();
      expect(await mine.texts("heron")).toEqual([]);
      expect(await mine.texts("heron", { sessionId: session.session.sessionId })).toEqual([]);
      expect(await theirs.texts("heron")).toHaveLength(1);
    }
    expect(await store.agents()).toContain(theirs.agentId);
    await session.close();
  });

  it("reads what the index has no text of, and texts that it has no trigrams of", async () => {
    const { open, texts } = agent();
    const session = await open("bulk");
    const bulk = `heron ${"a word ".repeat(20_000)}`;
    await session.append([said(bulk), said("é数据库 ab"), said("plain")]);
    await fill();
    expect(await texts("heron")).toEqual([bulk]);
    for (const short of ["ab", "b", "数据", "É"])
      expect(await texts(short)).toContain("é数据库 ab");
    await session.close();
  });

  it("looks further back until it has as many as are wanted", async () => {
    const { agentId, open, texts, find } = agent();
    const session = await open("long");
    await session.append(
      Array.from({ length: 2000 }, (_, at) =>
        said(at % 400 === 0 ? `rare heron ${at}` : `message ${at}`),
      ),
    );
    await fill();
    const wanted = [1600, 1200, 800, 400, 0].map((at) => `rare heron ${at}`);
    expect(await texts("rare heron")).toEqual(wanted);
    expect(await texts("heron", { limit: 3 })).toEqual(wanted.slice(0, 3));
    expect(await texts("heron", { needs: { literals: [], words: ["heron"] } })).toEqual(wanted);
    expect(await texts("heron", { needs: { literals: [], words: [] } })).toEqual(wanted);
    const { sessionId } = session.session;
    expect(await texts("heron", { sessionId })).toEqual(wanted);
    const cut = await find("heron", { needs: { literals: [], words: [] }, boundMs: 0 });
    expect(cut).toMatchObject({ partly: { of: 2000 } });
    expect(cut.partly?.looked).toBeLessThan(2000);
    expect(agentId).not.toBe("");
    await session.close();
  });

  it("goes away with its session, also while others fill the index", {
    timeout: 60_000,
  }, async () => {
    const { agentId } = agent();
    for (let round = 0; round < 15; round++) {
      const name = { agentId, key: `gone ${round}` };
      const session = await store.open(name);
      await session.append(Array.from({ length: 200 }, (_, at) => said(`gone ${at}`)));
      await session.close();
      const filling = [fill(store), fill(other)];
      await after(round % 8);
      expect(await store.remove(name)).toBe(true);
      await Promise.all(filling);
    }
    const where = `where agent_id = '${agentId}'`;
    expect(await count(`select count(*) from search ${where}`)).toBe(0);
    expect(await count(`select count(*) from search_mark ${where}`)).toBe(0);
  });

  it("lacks nothing and has nothing twice after those who filled it were killed", {
    timeout: 90_000,
  }, async () => {
    const { agentId, open } = agent();
    const sessions = await Promise.all(Array.from({ length: 4 }, (_, at) => open(`killed ${at}`)));
    let written = 0;
    let isOver = false;
    const writing = Promise.all(
      sessions.map(async (session) => {
        while (!isOver) {
          await session.append(Array.from({ length: 100 }, () => said(`heron ${written++}`)));
          await after(10);
        }
      }),
    );
    const node = ["--conditions=@clew/source", "--disable-warning=ExperimentalWarning"];
    const start = () => spawn(process.execPath, [...node, WORKER, url], { stdio: "pipe" });
    const run = async (kills: number) => {
      for (let done = 0; done < kills; done++) {
        const worker = start();
        const ended = once(worker, "close");
        await once(worker.stdout, "data");
        await after(100 + 200 * Math.random());
        worker.kill("SIGKILL");
        await ended;
      }
    };
    await Promise.all([run(3), run(3)]);
    isOver = true;
    await writing;
    await Promise.all([fill(store), fill(other)]);
    const where = `where agent_id = '${agentId}'`;
    expect(await count(`select count(*) from search ${where}`)).toBe(written);
    expect(await count(`select sum(messages) as count from search_mark ${where}`)).toBe(written);
    expect(await count(`select count(*) from session ${where} and is_behind`)).toBe(0);
    await Promise.all(sessions.map((session) => session.close()));
  });

  it("finds the same where the database has no index of trigrams, and says so", async () => {
    const { open, texts, find } = agent();
    const session = await open("without");
    await session.append([said("in src/a.ts:12"), said("heron")]);
    await fill();
    await runSql(url, "drop index search_trigrams");
    expect(await texts("/a.ts")).toEqual(["in src/a.ts:12"]);
    expect(await find("heron")).toMatchObject({ hasTrigrams: false, isBehind: false });
    await (await openPostgresStore({ url, ports: PORTS, address: "http://three" })).close();
    expect(await find("heron")).toMatchObject({ hasTrigrams: true });
    await session.close();
  });
});

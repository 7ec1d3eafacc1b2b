import { assistant, toolCall, toolResult, user } from "@clew/plugin-sdk/testing";
import { describe, expect, it } from "vitest";
import { session, setUpRecall } from "../testing/recall.ts";

const asked = (pattern: string) => ({ pattern, sort: "relevance", limit: 4 });
/** The numbers of what was found, best first. */
const numbersIn = (answer: string) => [...answer.matchAll(/ n="(\d+)"/g)].map(([, n]) => Number(n));

describe("a search by relevance", () => {
  it("follows a name that the best hit holds to what answers the rest of the question", async () => {
    const { tell, call } = setUpRecall();
    await tell([
      user("Paula Quist looks after the service Falcon-100."),
      user("The service Falcon-100 answers on port 4549."),
      ...[4, 16, 40, 88].map((at) => user(`The service Falcon-${at} answers on port ${at}77.`)),
      user("Paula Quist called about the port and the service, without a result."),
      user("Hana Quist looks after the service Dunlin-34."),
    ]);
    const question = "Which port does the service that Paula Quist looks after answer on?";
    const found = numbersIn(await call("lcm_grep", asked(question)));
    expect(found).toContain(2);
    expect(found[0]).toBe(1);
  });

  it("follows a name that begins a sentence, and no other word that does", async () => {
    const { tell, call } = setUpRecall();
    await tell([
      user("Blame my brother. Milo kept me talking until two."),
      user("Milo drives a milk float now, the whole street came to look."),
      user("My brother says that I always blame the weather."),
      ...Array.from({ length: 12 }, (_, at) => user(`The street was quiet on day ${at}.`)),
      user("Blame nobody for the fog."),
      assistant("Nobody."),
    ]);
    const found = numbersIn(await call("lcm_grep", asked("What vehicle does my brother have?")));
    expect(found).toContain(2);
    expect(found).not.toContain(16);
  });

  it("follows one name of the best hit before two names of a weaker one", async () => {
    const { tell, call } = setUpRecall();
    await tell([
      user("My brother saw Carol with Boris there."),
      user("My brother met Milo again in the park."),
      user("Milo is outside, as usual."),
      user("Carol, Boris came by today."),
      ...Array.from({ length: 12 }, (_, at) => user(`The street was quiet on day ${at}.`)),
      assistant("Quiet, yes."),
    ]);
    const found = numbersIn(await call("lcm_grep", asked("What vehicle does my brother have?")));
    expect(found).toEqual([2, 1, 3, 4]);
  });

  it("finds what was said in scripts without spaces, and with pictures", async () => {
    const { tell, call } = setUpRecall();
    await tell([
      user("数据库端口是5432。明天开会。🦊"),
      user("绝对不要删除登录页面的文件。"),
      user("東京タワーで会いましょう"),
      user("ราคากรุงเทพมหานคร"),
      user("한국어데이터베이스를 지우지 마세요"),
      user("今天的天气很好,我们去公园吧。"),
    ]);
    const first = async (pattern: string) => numbersIn(await call("lcm_grep", asked(pattern)))[0];
    expect(await first("数据库的端口是多少?")).toBe(1);
    expect(await first("什么不能删除?")).toBe(2);
    expect(await first("どこの東京タワー?")).toBe(3);
    expect(await first("กรุงเทพ")).toBe(4);
    expect(await first("데이터베이스")).toBe(5);
    expect(await first("🦊")).toBe(1);
    expect(await call("lcm_expand_query", { prompt: "端口是多少?" })).toContain("5432");
  });

  it("shows every hit once, page by page, whatever the turn brings between two pages", async () => {
    const { tell, call } = setUpRecall();
    await tell(Array.from({ length: 60 }, (_, at) => user(`the vault item number ${at} of many`)));
    for (const sort of ["relevance", "hybrid"]) {
      const found: number[] = [];
      let more: object | undefined = {};
      for (let page = 0; more !== undefined; page++) {
        const shown = await call("lcm_grep", { pattern: "vault item", sort, limit: 7, ...more });
        found.push(...numbersIn(shown));
        const [, skip, olderThan] = /add skip: (\d+), olderThan: (\d+)\./.exec(shown) ?? [];
        more = skip === undefined ? undefined : { skip: +skip, olderThan: Number(olderThan) };
        await tell([assistant(`${sort} ${page}: a new vault item`)], session, `${sort}${page}`);
      }
      expect(new Set(found).size).toBe(found.length);
      expect(found.filter((n) => n <= 60)).toHaveLength(60);
    }
  });

  it("compares 300 of more messages that hold a word, and says how many it did not", async () => {
    const { tell, call } = setUpRecall();
    await tell(Array.from({ length: 1_900 }, (_, at) => assistant(`deployment number ${at}`)));
    const shown = await call("lcm_grep", { pattern: "deployment", sort: "relevance", limit: 200 });
    expect(shown).toMatch(/ Of 1900 messages 300 were compared\./);
    const [, skip, olderThan] = /add skip: (\d+), olderThan: (\d+)\./.exec(shown)!;
    const more = { skip: Number(skip), olderThan: Number(olderThan) };
    const last = { pattern: "deployment", sort: "relevance", limit: 200, ...more };
    expect(await call("lcm_grep", last)).toContain(" 1600 others hold some of the words");
  });

  it("finds the message that holds two words, however many newer ones hold one of them", async () => {
    const { tell, call } = setUpRecall();
    await tell([user("For a deployment that went wrong GRANITE-7 starts the rollback.")]);
    const many = (what: string) =>
      Array.from({ length: 2_100 }, (_, at) => assistant(`${what} number ${at}`));
    await tell(many("deployment"), session, "d");
    await tell(many("rollback"), session, "r");
    expect(numbersIn(await call("lcm_grep", asked("deployment rollback")))[0]).toBe(1);
    expect(await call("lcm_expand_query", { prompt: "deployment rollback?" })).toContain("GRANITE");
  });

  it("compares the newest of more messages than it can read, where they hold as much", async () => {
    const { tell, call } = setUpRecall();
    await tell(Array.from({ length: 400 }, (_, at) => assistant(`deployment number ${at}`)));
    await tell(
      [user("the deployment of the vault is forbidden"), assistant("Noted.")],
      session,
      "v",
    );
    const page = async (skip: number) =>
      call("lcm_grep", { ...asked("deployment vault"), limit: 200, skip });
    const [first, last] = [await page(0), await page(200)];
    expect(numbersIn(first)[0]).toBe(401);
    const newest = Array.from({ length: 300 }, (_, at) => 401 - at);
    const found = [...numbersIn(first), ...numbersIn(last)];
    expect(found.sort((a, b) => b - a)).toEqual(newest);
    expect(first).toContain("For more add skip: 200, olderThan: ");
    expect(last).toContain(
      'Of 402 messages 300 were compared. 101 others hold some of the words and were not: sort "recency" finds all that hold every word.',
    );
  });

  it("finds a folder by its name and signs before all that stands in it", async () => {
    const { tell, call } = setUpRecall();
    await tell([
      user("Then I looked into ./internal/syncer/ and found nothing that matters to us."),
      ...[1, 2, 3, 4, 5, 6].map((at) => user(`ok ./internal/syncer/part${at}.go`)),
    ]);
    expect(numbersIn(await call("lcm_grep", asked("./internal/syncer/")))[0]).toBe(1);
  });

  it("finds a word in the request that was answered last, and not in the one that asks for it", async () => {
    const { tell, call } = setUpRecall();
    await tell([user("The giraffe is 17 years old."), assistant("ok")]);
    expect(numbersIn(await call("lcm_grep", asked("giraffe")))).toEqual([1]);
    // What is asked is no answer, as long as nobody has answered.
    await tell([user("How old is the giraffe?")], session, "f");
    expect(numbersIn(await call("lcm_grep", asked("giraffe")))).toEqual([1]);
  });

  it("puts what only quotes the past behind what was said, and shows equal passages once", async () => {
    const { tell, call } = setUpRecall();
    const looked = toolCall("session_search", { query: "badge of Elif" }, "c1");
    const fact = "The badge of Elif Petrov has the number 7701.";
    await tell([
      user(fact),
      { role: "compactionSummary", summary: `- ${fact}\n- Somebody called.` },
      assistant([looked]),
      toolResult(looked, fact),
      user("We talked with Elif Petrov about a badge for a while."),
      user("We talked with Elif Petrov about a badge for a while."),
      user("What number does the badge of Elif Petrov have?"),
    ]);
    expect(numbersIn(await call("lcm_grep", asked("number badge Elif Petrov")))).toEqual([1, 6, 2]);
  });

  it("puts what a host summed up behind what was said, and not what is known from it alone", async () => {
    const { tell, call } = setUpRecall();
    await tell([
      user("The cellar is damp."),
      user("The attic needs a lamp."),
      user("The harbour closes at nine."),
      { role: "compactionSummary", summary: "cellar, attic, harbour; the vault: QX-4011" },
      ...Array.from({ length: 12 }, (_, at) => user(`The street was quiet on day ${at}.`)),
      assistant("Yes."),
    ]);
    const shown = await call("lcm_grep", asked("cellar attic harbour"));
    expect(numbersIn(shown)).toEqual([1, 2, 3, 4]);
    expect(shown).toContain('n="4" from="summary"');
    expect(numbersIn(await call("lcm_grep", asked("street vault")))[0]).toBe(4);
  });

  it("finds what was said in a month, and endings of a word but no longer words", async () => {
    const { tell, call } = setUpRecall();
    const at = (date: string) => ({ timestamp: Date.parse(date) });
    await tell([
      user("We moved the boat.", at("2026-01-10")),
      user("We moved the boat again.", at("2026-02-10")),
      user("A movie about boats.", at("2026-02-11")),
      user("Thanks."),
    ]);
    const found = await call("lcm_grep", asked("When did we move it in January?"));
    expect(numbersIn(found)[0]).toBe(1);
    expect(numbersIn(await call("lcm_grep", asked("move")))).toEqual([1, 2]);
  });

  it("shows the best short message whole, and on its first page nothing that holds far less", async () => {
    const { tell, call } = setUpRecall();
    const files = Array.from({ length: 9 }, (_, at) => `src/parts/of/the/engine/file-${at}.ts`);
    const calls = files.map((path) => toolCall("read", { path }, path));
    const idle = Array.from({ length: 40 }, (_, at) => user(`a file is read, ${at}`));
    await tell([user("Read them."), assistant(calls), ...idle]);
    const found = await call("lcm_grep", { pattern: files[4]!, sort: "relevance" });
    for (const path of files) expect(found).toContain(`read path: ${path}`);
    expect(found).toMatch(/^1 found, .* For more add skip: 1, olderThan: \d+\./);
  });

  it("does not quote in a record what was looked up: it may have changed since", async () => {
    const { engine, tell } = setUpRecall();
    const looked = toolCall("lcm_grep", { pattern: "badge" }, "c1");
    const messages = [
      user("Which badge?"),
      assistant([looked]),
      toolResult(looked, "The badge of Elif Petrov has the number merlin-7701."),
      ...Array.from({ length: 60 }, (_, index) => user(`Log ${index}. ${"Low tide. ".repeat(90)}`)),
    ].map((message, index) => ({ ...message, __openclaw: { id: `m${index}` } }));
    await tell(messages);
    const { messages: view } = await engine.assemble({ ...session, messages, tokenBudget: 16_000 });
    const [record] = view;
    expect(record?.role).toBe("compactionSummary");
    expect(JSON.stringify(view)).not.toContain("merlin-7701");
  });
});

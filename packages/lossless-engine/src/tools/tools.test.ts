import type {
  AgentMessage,
  LlmCompleteParams,
  LlmCompleteResult,
  PluginTool,
  PluginToolFactory,
} from "@clew/plugin-sdk/core";
import { PluginManifestSchema } from "@clew/plugin-sdk/host";
import { assistant, conversation, toolCall, toolResult, user } from "@clew/plugin-sdk/testing";
import { describe, expect, it } from "vitest";
import manifest from "../../openclaw.plugin.json" with { type: "json" };
import plugin from "../plugin.ts";
import { otherSession as other, quotedIn, session, setUpRecall } from "../testing/recall.ts";
import { withIds } from "../testing/stored.ts";
import type { Complete } from "./expand-query.ts";

describe("lcm_grep", () => {
  it("finds words whatever their endings, newest first, and says that all was searched", async () => {
    const { tell, call } = setUpRecall();
    await tell([
      user("The migration was running at night"),
      assistant("It runs again"),
      user("Thanks"),
    ]);
    const found = await call("lcm_grep", { pattern: "run" });
    expect(found).toMatch(/^2 found, newest first\. All 3 messages were searched\./);
    expect(found.indexOf("It runs again")).toBeLessThan(found.indexOf("The migration"));
    expect(found).toContain("#1 · id e0 · user · turn 1 · 2026-01-01 00:00 · conversation 1");
  });

  it("finds a pattern, whatever its case, and refuses one that it cannot search in time", async () => {
    const { tell, call } = setUpRecall();
    await tell([user("see TICKET-10042"), user("see ticket-1"), user("nothing here")]);
    const found = await call("lcm_grep", { pattern: "ticket-\\d{5}", mode: "regex" });
    expect(found).toMatch(/^1 found/);
    expect(found).toContain("see TICKET-10042");
    expect(await call("lcm_grep", { pattern: "(a)\\1", mode: "regex" })).toMatch(
      /^This pattern cannot be searched for: references to groups are not offered\./,
    );
  });

  it("finds what no index holds: data, and what stands far behind in a long message", async () => {
    const { tell, call } = setUpRecall();
    const base64 = Array.from({ length: 80 }, (_, line) =>
      Buffer.from(`${line}`.padStart(45, "clew")).toString("base64"),
    ).join("\n");
    await tell([user(base64), user(`${"word ".repeat(30_000)} faraway needle`), user("thanks")]);
    const line = base64.split("\n")[40]!;
    expect(await call("lcm_grep", { pattern: line, mode: "regex" })).toContain("#1 ·");
    expect(await call("lcm_grep", { pattern: "faraway needle" })).toMatch(
      /#2 · .*\n> at character 150001 of 150015/,
    );
  });

  it("finds parts of sentences that nobody parts by spaces, and pictures", async () => {
    const { tell, call } = setUpRecall();
    await tell([
      user("绝对不要删除 src/组件/登录页面.tsx 文件。"),
      user("数据库端口是5432。明天开会。🦊"),
      user("ราคากรุงเทพมหานคร"),
      user("한국어데이터베이스를 지우지 마세요"),
      user("東京タワーで会いましょう"),
      user("The port is 5432, 除 and 删."),
    ]);
    const found: Record<string, number[]> = {
      删除: [1],
      不要删除: [1],
      登录页面: [1],
      端口: [2],
      数据库: [2],
      "端口 5432": [2],
      "5432": [6, 2],
      明天: [2],
      删: [6, 1],
      除: [6, 1],
      "🦊": [2],
      กรุงเทพ: [3],
      한국어: [4],
      데이터베이스: [4],
      東京: [5],
      タワー: [5],
      京都: [],
    };
    for (const [pattern, numbers] of Object.entries(found)) {
      const shown = await call("lcm_grep", { pattern });
      const named = [...shown.matchAll(/^#(\d+) · /gm)].map(([, seq]) => Number(seq));
      expect([pattern, named]).toEqual([pattern, numbers]);
    }
  });

  it("finds what stands in quotes as it is, and no word in data that only has its beginning", async () => {
    const { tell, call } = setUpRecall();
    const base64 = Array.from({ length: 80 }, (_, line) =>
      Buffer.from(`pkg line ${line}`.padStart(45, "777")).toString("base64"),
    ).join("\n");
    await tell([
      user(`${base64}\npkgABC 777`),
      user("line 77 7, then line 777 of it"),
      user("line 7 has 777"),
      user(`${"needle1 ".repeat(3_000)}needle777 ${"needle2 ".repeat(3_000)}`),
    ]);
    expect(await call("lcm_grep", { pattern: '"line 777"' })).toMatch(/^1 found[\s\S]*\n#2 · /);
    expect(await call("lcm_grep", { pattern: "pkg777" })).toMatch(/^Nothing found/);
    expect(await call("lcm_grep", { pattern: "needle777" })).toContain("needle777");
  });

  it("takes for a regular expression what looks like one, and says what else to try", async () => {
    const { tell, call } = setUpRecall();
    await tell([user("db_port=5432"), user("the KEY is here"), user("[ERROR] it failed")]);
    expect(await call("lcm_grep", { pattern: "KEY|db_.*port" })).toMatch(/^2 found/);
    expect(await call("lcm_grep", { pattern: "db_\\w+" })).toMatch(/^1 found/);
    expect(await call("lcm_grep", { pattern: "[ERROR] failed" })).toMatch(/^1 found/);
    expect(await call("lcm_grep", { pattern: "nope|never" })).toContain(
      'It was taken for a regular expression; mode "full_text" takes it for words.',
    );
    expect(await call("lcm_grep", { pattern: "db_\\w+x", mode: "full_text" })).toContain(
      'mode "regex" takes it for a regular expression.',
    );
    expect(await call("lcm_grep", { pattern: "what is the db_port of it" })).toContain(
      'sort "relevance" finds those that hold most of them.',
    );
  });

  it("answers in pages that name the next", async () => {
    const { tell, call } = setUpRecall();
    await tell(Array.from({ length: 30 }, (_, index) => user(`note number ${index}`)));
    const first = await call("lcm_grep", { pattern: "note", limit: 10 });
    expect(first).toMatch(/^10 found, newest first\. There may be more; .*olderThan: 21\./);
    const second = await call("lcm_grep", { pattern: "note", limit: 10, olderThan: 21 });
    expect(second).toContain("note number 19");
    expect(second).not.toContain("note number 20\n");
    const last = await call("lcm_grep", { pattern: "note", limit: 50, olderThan: 11 });
    expect(last).toMatch(/^10 found, newest first\. All 30 messages were searched\./);
  });

  it("looks in other sessions only when it is asked to, and never in another database", async () => {
    const { tell, call } = setUpRecall();
    await tell([user("my number is 0815")]);
    await tell([user("hello")], other, "o");
    expect(await call("lcm_grep", { pattern: "0815" }, other)).toMatch(/^Nothing found\. All 1 /);
    const everywhere = { pattern: "0815", allConversations: true };
    expect(await call("lcm_grep", everywhere, other)).toContain("my number is 0815");
    const another = setUpRecall();
    await another.tell([user("hello")], other, "o");
    expect(await another.call("lcm_grep", everywhere, other)).toMatch(/^Nothing found/);
  });

  it("of a session goes on after a reset, and finds what was said before", async () => {
    const { tell, call } = setUpRecall();
    await tell([user("the old fact: 4711")]);
    const after = { ...session, sessionId: "s9" };
    await tell([user("a new beginning", { timestamp: 5 })], after, "n");
    expect(await call("lcm_grep", { pattern: "4711" }, after)).toContain("the old fact");
  });

  it("takes dates, and says what a date is", async () => {
    const { tell, call } = setUpRecall();
    await tell([
      user("early word", { timestamp: Date.parse("2026-01-01") }),
      user("late word", { timestamp: Date.parse("2026-03-01") }),
    ]);
    const late = await call("lcm_grep", { pattern: "word", since: "2026-02-01" });
    expect(late).toMatch(/^1 found[\s\S]*late word/);
    expect(await call("lcm_grep", { pattern: "word", before: "soon" })).toMatch(/are dates/);
  });
});

describe("lcm_describe", () => {
  it("shows a message whole by its number or the id that a record names it by", async () => {
    const { tell, call } = setUpRecall();
    const run = toolCall("bash", { command: "ls" }, "c1");
    await tell([user("list"), assistant([run]), toolResult(run, "a.ts\nb.ts")]);
    const page =
      /^#3( · id e2)? · result of bash · turn 1 · 2026-01-01 00:00\n<stored (\w{6})>\na\.ts\nb\.ts\n<\/stored \2>$/;
    // What it was asked for by is not said again, nor which conversation where there is one.
    for (const [id, said] of [
      ["#3", " · id e2"],
      ["e2", undefined],
      ["@e2", undefined],
    ] as const) {
      const shown = await call("lcm_describe", { id });
      expect(shown).toMatch(page);
      expect(page.exec(shown)![1]).toBe(said);
    }
    expect(await call("lcm_describe", { id: "e2", allConversations: true })).toMatch(
      /^#3 · result of bash · turn 1 · 2026-01-01 00:00 · conversation 1\n/,
    );
    expect(await call("lcm_describe", { id: "e1" })).toContain("bash command: ls");
    expect(await call("lcm_describe", { id: "nobody" })).toMatch(
      /^There is no message or file nobody/,
    );
  });

  it("shows several, each whole, and says where to go on", async () => {
    const { tell, call } = setUpRecall();
    await tell(Array.from({ length: 6 }, (_, index) => user(`${index}`.repeat(10_000))));
    const first = await call("lcm_describe", { id: "#1-#6" });
    expect(quotedIn(first)).toEqual(["0", "1", "2"].map((digit) => digit.repeat(10_000)));
    expect(first).toMatch(/\n\nTo go on: \{"id":"#4-#6"\}\.$/);
    const second = await call("lcm_describe", { id: "#4-#6" });
    expect(quotedIn(second).at(-1)).toBe("5".repeat(10_000));
  });

  it("goes on behind a long message with the rest of the range, however it was asked for", async () => {
    const { tell, call } = setUpRecall();
    const texts = ["first", "long ".repeat(20_000), "third", "😀".repeat(9), "fifth"];
    await tell(texts.map((text) => user(text)));
    await tell([user("hello")], other, "o");
    for (const [of, more] of [
      [session, {}],
      [session, { raw: true }],
      [session, { tokenCap: 5_000 }],
      [other, { allConversations: true }],
      [other, { allConversations: true, conversationId: 1, raw: true }],
    ] as const) {
      const pages: string[] = [];
      let next: object = { id: "#1-#5", ...more };
      for (;;) {
        pages.push(
          await call("lcm_describe", "tokenCap" in more ? { ...next, ...more } : next, of),
        );
        const [, going] = /[Tt]o go on: (\{.*\})\.$/.exec(pages.at(-1)!) ?? [];
        if (going === undefined) break;
        next = JSON.parse(going);
        const { tokenCap: _, ...kept } = { tokenCap: 0, ...more };
        expect(next).toMatchObject(kept);
      }
      const wanted = texts.map((text, index) =>
        "raw" in more ? JSON.stringify(withIds(texts.map((each) => user(each)))[index]) : text,
      );
      expect(pages.flatMap(quotedIn).join("")).toBe(wanted.join(""));
    }
  });

  it("says what there is where nothing stands, and never stands still", async () => {
    const { tell, call } = setUpRecall();
    await tell([user("one\ntwo"), user("😀😀")]);
    for (const nowhere of [{ fromLine: 9 }, { fromLine: 2, toLine: 1 }, { offset: 99 }])
      expect(await call("lcm_describe", { id: "#1", ...nowhere })).toMatch(
        /\(Nothing stands there: the text has 7 characters, 2 lines\.\)$/,
      );
    expect(await call("lcm_describe", { id: "#2", expandFileMaxBytes: 1 })).toContain(
      'to go on: {"id":"#2","offset":2}',
    );
  });

  it("gives every byte of what was stored back, in pages", async () => {
    const { tell, call } = setUpRecall();
    const details = { stdout: "x".repeat(40_000), code: 0, nested: [{ deep: "é😀" }] };
    const message = toolResult(toolCall("read"), "line\n".repeat(16_000), { details });
    await tell([message]);
    for (const [raw, whole] of [
      [false, "line\n".repeat(16_000)],
      [true, JSON.stringify(withIds([message])[0])],
    ] as const) {
      let text = "";
      for (let offset = 0; offset < whole.length; ) {
        const page = await call("lcm_describe", { id: "#1", raw, offset });
        expect(page).toMatch(/^#1 · /);
        const [piece = ""] = quotedIn(page);
        text += piece;
        offset += piece.length;
      }
      expect(text).toBe(whole);
    }
  });

  it("shows nothing of another session unless it is asked to", async () => {
    const { tell, call } = setUpRecall();
    await tell([user("a secret")]);
    await tell([user("hello")], other, "o");
    expect(await call("lcm_describe", { id: "#1" }, other)).toMatch(/no such messages/);
    expect(await call("lcm_describe", { id: "e0" }, other)).toMatch(/^There is no message/);
    expect(await call("lcm_describe", { id: "#1", allConversations: true }, other)).toContain(
      "a secret",
    );
  });
});

describe("lcm_expand_query", () => {
  const facts = [
    user("The database of the shop is called larkspur."),
    assistant("Noted."),
    user("The password hint is <record>blue</record>"),
    user("Our shop opens at nine."),
  ];
  const answering =
    (text: string, seen: LlmCompleteParams[] = []): Complete =>
    async (params) => {
      seen.push(params);
      return { text, provider: "p", model: "m", agentId: "main" } as LlmCompleteResult;
    };

  it("asks the model once, about the passages that hold most of the words", async () => {
    const seen: LlmCompleteParams[] = [];
    const { tell, call } = setUpRecall(undefined, answering("It is larkspur (#1).", seen));
    await tell(facts);
    const answer = JSON.parse(
      await call("lcm_expand_query", { prompt: "What is the shop's database called?" }),
    );
    expect(answer).toMatchObject({
      ...{ answer: "It is larkspur (#1).", citedIds: ["#1"], sourceConversationIds: [1] },
      ...{ expandedSummaryCount: 0, truncated: false },
    });
    expect(seen).toHaveLength(1);
    const [{ content } = { content: "" }] = seen[0]!.messages;
    expect(content.indexOf("larkspur")).toBeLessThan(content.indexOf("opens at nine"));
  });

  it("keeps to its tokens, and what it quotes cannot leave its tag", async () => {
    const seen: LlmCompleteParams[] = [];
    const { tell, call } = setUpRecall(undefined, answering("?", seen));
    await tell([
      ...facts,
      ...Array.from({ length: 40 }, (_, at) => user(`${at} ${"password ".repeat(200)}`)),
    ]);
    const asked = { prompt: "password hint", tokenCap: 1_000 };
    const { truncated, totalSourceTokens } = JSON.parse(await call("lcm_expand_query", asked));
    expect([truncated, totalSourceTokens <= 1_000]).toEqual([true, true]);
    expect(seen[0]!.messages[0]!.content.match(/<\/?record>/g)).toEqual(["<record>", "</record>"]);
  });

  it("gives the passages where no model answers", async () => {
    for (const complete of [undefined, () => Promise.reject(new Error("no network"))]) {
      const { tell, call } = setUpRecall(undefined, complete);
      await tell(facts);
      const answer = await call("lcm_expand_query", { prompt: "Which database?" });
      expect(answer).toMatch(/^(There is no model to ask|The model did not answer); these are/);
      expect(answer).toContain("called larkspur");
    }
    const { tell, call } = setUpRecall();
    await tell(facts);
    expect(await call("lcm_expand_query", { prompt: "zebra" })).toMatch(/^Nothing is stored/);
  });
});

describe("a model that lcm_expand_query asks", () => {
  const told = [
    user("The vault code is 4711."),
    user(`The vault is old. ${"It is. ".repeat(400)}`),
  ];
  const ask = async (complete: Complete, more: object = {}) => {
    const { tell, call } = setUpRecall(undefined, complete);
    await tell(told);
    return call("lcm_expand_query", { prompt: "vault code", ...more });
  };
  const says =
    (text: unknown): Complete =>
    async () =>
      ({ text }) as LlmCompleteResult;

  it("and that answers with no words gives way to the passages, which say so", async () => {
    for (const text of ["", " \n", undefined, null])
      expect(await ask(says(text))).toMatch(
        /^The model answered with no words; these are the passages[\s\S]*4711/,
      );
    const nothing: Complete = async () => undefined as never;
    expect(await ask(nothing)).toMatch(/^The model did not answer; these are[\s\S]*4711/);
  });

  it("gives back no more than maxTokens, and so do the passages", async () => {
    const long = await ask(says("word ".repeat(200_000)), { maxTokens: 50 });
    expect(long.length).toBeLessThan(600);
    expect(JSON.parse(long)).toMatchObject({ truncated: true });
    expect(JSON.parse(await ask(says("4711 (#1)"), { maxTokens: 50 })).truncated).toBe(false);
    const passages = await ask(says(""), { maxTokens: 100 });
    expect(passages.length).toBeLessThan(800);
    expect(passages).toMatch(/4711[\s\S]*There is more: lcm_grep finds it\.$/);
  });

  it("and that takes longer than timeoutMs is waited for no longer", async () => {
    const never: Complete = () => new Promise(() => {});
    expect(await ask(never, { timeoutMs: 5 })).toMatch(
      /^The model did not answer within 5 ms; these are[\s\S]*4711/,
    );
  });
});

describe("lcm_expand", () => {
  const child = { sessionId: "c1", sessionKey: "agent:main:child" };
  const grandchild = { sessionId: "c2", sessionKey: "agent:main:grandchild" };
  const spawn = (parent: typeof session, of: typeof session, ttlMs?: number) => ({
    ...{ parentSessionKey: parent.sessionKey, parentSessionId: parent.sessionId },
    ...{ childSessionKey: of.sessionKey, ...(ttlMs !== undefined && { ttlMs }) },
  });
  const ask = { query: "database" };

  it("shows a child what its parent knows, and nothing of any other session", async () => {
    const { engine, tell, call } = setUpRecall();
    await tell([user("the database is larkspur")]);
    await tell([user("their database is secret")], other, "o");
    expect(await call("lcm_expand", ask, child)).toBe("(not offered)");
    await engine.prepareSubagentSpawn!(spawn(session, child));
    const shown = await call("lcm_expand", ask, child);
    expect(shown).toContain("larkspur");
    expect(shown).not.toContain("secret");
    expect(await call("lcm_expand", ask)).toBe("(not offered)");
  });

  it("ends with the child, with a rollback and with its time", async () => {
    const { engine, tell, call, clock } = setUpRecall();
    await tell([user("the database is larkspur")]);
    const preparation = await engine.prepareSubagentSpawn!(spawn(session, child));
    await preparation!.rollback();
    expect(await call("lcm_expand", ask, child)).toBe("(not offered)");
    await engine.prepareSubagentSpawn!(spawn(session, child));
    await engine.onSubagentEnded!({ childSessionKey: child.sessionKey, reason: "completed" });
    expect(await call("lcm_expand", ask, child)).toBe("(not offered)");
    await engine.prepareSubagentSpawn!(spawn(session, child, 1_000));
    clock.ms = 999;
    expect(await call("lcm_expand", ask, child)).toContain("larkspur");
    clock.ms = 1_000;
    expect(await call("lcm_expand", ask, child)).toBe("(not offered)");
  });

  it("is inherited within the same tokens and time, three generations deep", async () => {
    const { engine, tell, call, clock } = setUpRecall();
    await tell([user("the database is larkspur"), user(`database ${"word ".repeat(200)}`)]);
    await engine.prepareSubagentSpawn!(spawn(session, child, 1_000));
    await engine.prepareSubagentSpawn!(spawn(child, grandchild, 9_000));
    for (let time = 0; time < 40; time++) await call("lcm_expand", ask, grandchild);
    expect(await call("lcm_expand", ask, child)).toMatch(/the grant has \d{1,3} tokens left\.$/);
    clock.ms = 1_000;
    expect(await call("lcm_expand", ask, grandchild)).toBe("(not offered)");
    clock.ms = 0;
    expect(await call("lcm_expand", ask, grandchild)).not.toBe("(not offered)");
    const third = { sessionId: "c3", sessionKey: "agent:main:third" };
    expect(await engine.prepareSubagentSpawn!(spawn(grandchild, third))).toBeDefined();
    const fourth = { sessionId: "c4", sessionKey: "agent:main:fourth" };
    expect(await engine.prepareSubagentSpawn!(spawn(third, fourth))).toBeUndefined();
    // Who passed it on is gone, and so is what was passed on.
    await engine.onSubagentEnded!({ childSessionKey: child.sessionKey, reason: "deleted" });
    for (const of of [grandchild, third])
      expect(await call("lcm_expand", ask, of)).toBe("(not offered)");
  });
});

describe("the tools of the plugin", () => {
  it("are those of the manifest, and say so where nothing is stored", async () => {
    const offered: PluginTool[] = [];
    plugin.register({
      pluginConfig: undefined,
      resolvePath: (path: string) => path,
      registerContextEngine: () => {},
      registerCommand: () => {},
      registerTool: (factory: PluginToolFactory) =>
        offered.push(...[factory(session) ?? []].flat()),
    } as never);
    const { contracts } = PluginManifestSchema.parse(manifest);
    expect(offered.map(({ name }) => name)).toEqual(
      // The last one is for children that were granted something.
      contracts?.tools?.slice(0, -1),
    );
    const needs: Record<string, string> = { lcm_grep: "pattern", lcm_describe: "id" };
    for (const tool of offered) {
      const { content } = await tool.execute("c", { [needs[tool.name] ?? "prompt"]: "x" });
      expect(content[0]?.text).toMatch(/^Nothing of this session is stored/);
    }
  });

  it("are named to the model as soon as something is hidden, and not before", async () => {
    const { engine } = setUpRecall();
    const messages = withIds(conversation({ turns: 60, tools: 1, toolResultChars: 1_500 }));
    const availableTools = new Set(["lcm_grep"]);
    const ask = (of: AgentMessage[]) =>
      engine.assemble({ ...session, messages: of, tokenBudget: 24_000, availableTools });
    expect((await ask(messages.slice(0, 4))).systemPromptAddition).toBeUndefined();
    expect((await ask(messages)).systemPromptAddition).toContain("lcm_describe");
    const { items, hidden } = await engine.explain({ ...session, messages, tokenBudget: 24_000 });
    expect(items[0]).toMatchObject({ id: null, why: "record" });
    expect(hidden + items.length).toBe(messages.length + 1);
  });
});

import { DatabaseSync } from "node:sqlite";
import type { PluginTool, PluginToolFactory } from "@clew/plugin-sdk/core";
import { assistant, toolCall, toolResult, user } from "@clew/plugin-sdk/testing";
import { describe, expect, it } from "vitest";
import { createLosslessEngine } from "../engine.ts";
import plugin from "../plugin.ts";
import { session, setUpRecall } from "../testing/recall.ts";

function offeredUnder(config: object | undefined, pluginConfig?: object, sessionKey = "a:b") {
  const offered: PluginTool[] = [];
  plugin.register({
    ...{ config, pluginConfig, runtime: {}, resolvePath: (path: string) => path },
    ...{ registerContextEngine: () => {}, registerCommand: () => {} },
    registerTool: (factory: PluginToolFactory) =>
      offered.push(...[factory({ sessionId: "s", sessionKey }) ?? []].flat()),
  } as never);
  return offered.map(({ name }) => name);
}

describe("the recall tools", () => {
  const all = ["lcm_grep", "lcm_describe", "lcm_expand_query"];
  const select = (contextEngine: string) => ({ plugins: { slots: { contextEngine } } });

  it("are offered where the engine answers, and neither beside another one nor where it is ignored", () => {
    expect(offeredUnder(undefined)).toEqual(all);
    expect(offeredUnder(select("lossless"))).toEqual(all);
    expect(offeredUnder(select("legacy"))).toEqual([]);
    const ofAgent = { agents: { list: [{}, { engine: "lossless" }] }, ...select("legacy") };
    expect(offeredUnder(ofAgent)).toEqual(all);
    const ignoring = { ignoreSessionPatterns: ["agent:*:cron:**"] };
    expect(offeredUnder(select("lossless"), ignoring, "agent:main:cron:x")).toEqual([]);
    expect(offeredUnder(select("lossless"), ignoring, "agent:main:main")).toEqual(all);
  });

  it("say that and since when not all is stored, until it is", async () => {
    const { engine, tell, call, stores } = setUpRecall();
    await tell([user("told: one")]);
    const other = new DatabaseSync(stores.ofAgent().path);
    other.exec("BEGIN IMMEDIATE");
    await expect(tell([user("told: two")], session, "later")).rejects.toThrow(/database/);
    const behind =
      /Not all is stored: what was said since \d{4}-\d\d-\d\d \d\d:\d\d UTC may be missing here\. The lossless engine cannot use its database .*another program/;
    expect(await call("lcm_describe", { id: "#1" })).toMatch(behind);
    other.exec("ROLLBACK");
    other.close();
    expect(await call("lcm_grep", { pattern: "two" })).toMatch(/^Nothing found[\s\S]*Not all is/);
    await tell([user("told: two")], session, "later");
    expect(await call("lcm_grep", { pattern: "two" })).not.toMatch(behind);
    await engine.dispose!();
  });

  it("do not find earlier searches, what those showed, or the call that searches", async () => {
    const { tell, call } = setUpRecall();
    const search = toolCall("lcm_grep", { pattern: "9912" }, "c1");
    const old = toolCall("session_search", { query: "9912" }, "c0");
    await tell([
      user("the code is 9912"),
      assistant([old]),
      toolResult(old, "the code is 9912"),
      user("what is the code?"),
      assistant([{ type: "text", text: "I look for it." }, search]),
      toolResult(search, "1 found: the code is 9912"),
      assistant("It is 9912."),
      user("and again?"),
      assistant([
        { type: "text", text: "I look for 9912 again." },
        toolCall("lcm_grep", { pattern: "9912" }, "call"),
      ]),
    ]);
    for (const more of [{}, { mode: "regex" }, { allConversations: true }]) {
      const shown = await call("lcm_grep", { pattern: "9912", ...more });
      const named = [...shown.matchAll(/^#(\d+) · /gm)].map(([, seq]) => Number(seq));
      expect(named).toEqual([7, 1]);
    }
    expect(await call("lcm_describe", { id: "#6" })).toContain("1 found: the code is 9912");
    expect(await call("lcm_grep", { pattern: "look for it" })).toMatch(/^1 found/);
  });

  it("say where nothing is found what was searched, and how other fields are seen", async () => {
    const { tell, call } = setUpRecall();
    const run = toolCall("bash", { command: "ls" }, "c");
    await tell([user("x"), toolResult(run, "plain", { details: { hidden: "needle" } })]);
    expect(await call("lcm_grep", { pattern: "needle" })).toBe(
      'Nothing found. All 2 messages were searched: what they say, call tools for and get back, but for earlier searches and what was thought beside them; lcm_describe with raw shows other fields. Words are found whole; mode "regex" finds a part of one, too.',
    );
    expect(await call("lcm_describe", { id: "#2", raw: true })).toContain("needle");
  });
});

describe("an engine that is made by hand", () => {
  it("refuses a setting that it does not have, and names those that it has", () => {
    expect(() => createLosslessEngine({}, { compres: true } as never)).toThrow(
      'The lossless engine has no setting "compres"; it has: databasePath, compress, ',
    );
  });
});

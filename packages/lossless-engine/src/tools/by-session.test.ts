import type { PluginSubagents } from "@clew/plugin-sdk/core";
import { assistant, user } from "@clew/plugin-sdk/testing";
import { describe, expect, it } from "vitest";
import { setUpRecall } from "../testing/recall.ts";

type Ran = Parameters<PluginSubagents["run"]>[0];

/** A host whose sessions answer what they are made to, and what it was asked. */
function host(work: (ran: Ran) => Promise<string>, more: Partial<PluginSubagents> = {}) {
  const [ran, deleted] = [[] as Ran[], [] as string[]];
  let reply: Promise<string> = Promise.resolve("");
  const subagent: PluginSubagents = {
    async run(params) {
      ran.push(params);
      reply = work(params);
      return { runId: "r" };
    },
    async waitForRun() {
      await reply;
      return { status: "ok" };
    },
    getSessionMessages: async () => ({
      messages: [
        { role: "user", content: "?" },
        { role: "assistant", content: await reply },
      ],
    }),
    deleteSession: async ({ sessionKey }) => void deleted.push(sessionKey),
    ...more,
  };
  return { ran, deleted, subagent };
}

const asked = { prompt: "Which database?", thorough: true };

function told({ subagent }: { subagent?: PluginSubagents }) {
  const set = setUpRecall(undefined, undefined, false, undefined, subagent);
  return {
    ...set,
    begin: () => set.tell([user("Our database is called larkspur."), assistant("Noted.")]),
  };
}

describe("lcm_expand_query that is to be thorough", () => {
  it("has a session look by lcm_expand, pays what it reads, and takes everything back", async () => {
    const seen: string[] = [];
    const { ran, deleted, subagent } = host(async ({ sessionKey }) => {
      const child = { sessionId: "c", sessionKey };
      seen.push(await set.call("lcm_expand", { query: "database" }, child));
      return "It is larkspur (#1).";
    });
    const set = told({ subagent });
    await set.begin();
    const answer = JSON.parse(await set.call("lcm_expand_query", asked));
    expect(answer).toMatchObject({ answer: "It is larkspur (#1).", citedIds: ["#1"] });
    expect(answer.totalSourceTokens).toBeGreaterThan(0);
    expect(seen[0]).toContain("called larkspur");
    const [{ sessionKey, message }] = ran as [Ran];
    expect(sessionKey).toMatch(/^agent:main:subagent:lcm-recall-[\w-]+$/);
    expect(message).toBe("Question: Which database?");
    expect(deleted).toEqual([sessionKey]);
    expect(await set.call("lcm_expand", { query: "x" }, { sessionId: "c", sessionKey })).toBe(
      "(not offered)",
    );
  });

  it("keeps nothing of that session", async () => {
    const { ran, subagent } = host(async () => "larkspur");
    const set = told({ subagent });
    await set.begin();
    await set.call("lcm_expand_query", asked);
    expect(set.stores.of({ sessionId: "c", sessionKey: ran[0]!.sessionKey })).toBeNull();
  });

  it.each<[string, Partial<PluginSubagents>, string]>([
    ["refuses", { run: () => Promise.reject(new Error("Not here.")) }, "Not here"],
    [
      "is too slow",
      { waitForRun: async () => ({ status: "timeout" }) },
      "no answer came within 120000 ms",
    ],
    [
      "fails",
      { waitForRun: async () => ({ status: "error", error: "The run failed" }) },
      "The run failed",
    ],
    ["says nothing", { getSessionMessages: async () => ({ messages: [] }) }, "with no words"],
    [
      "cannot delete it",
      {
        run: () => Promise.reject(new Error("Not here.")),
        deleteSession: () => Promise.reject(new Error("None.")),
      },
      "Not here",
    ],
  ])("does without where the host %s, and says so", async (_, more, why) => {
    const { ran, deleted, subagent } = host(async () => "larkspur", more);
    const set = told({ subagent });
    await set.begin();
    const answer = await set.call("lcm_expand_query", asked);
    expect(answer).toContain("No session could look through the record");
    expect(answer).toContain(why);
    expect(answer).toContain("called larkspur");
    expect(deleted.length).toBeLessThanOrEqual(Math.max(1, ran.length));
  });

  it("does without in a host that has no sessions, and in a child session", async () => {
    const none = told({});
    await none.begin();
    expect(await none.call("lcm_expand_query", asked)).toContain("no sessions for plugins");
    const { ran, subagent } = host(async () => "larkspur");
    const child = { sessionId: "k", sessionKey: "agent:main:subagent:k" };
    const set = told({ subagent });
    await set.tell([user("The database is heather.")], child, "k");
    expect(await set.call("lcm_expand_query", asked, child)).toContain("a child session itself");
    expect(ran).toEqual([]);
  });
});

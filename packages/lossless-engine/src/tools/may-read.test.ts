import { toolCall, toolResult, user } from "@clew/plugin-sdk/testing";
import { describe, expect, it } from "vitest";
import { otherSession as other, session, setUpRecall } from "../testing/recall.ts";

const child = { sessionId: "k1", sessionKey: "agent:main:subagent:1" };
const spawn = (parent: typeof session, of: typeof session, ttlMs?: number) => ({
  ...{ parentSessionKey: parent.sessionKey, parentSessionId: parent.sessionId },
  ...{ childSessionKey: of.sessionKey, ...(ttlMs !== undefined && { ttlMs }) },
});

/** Conversation 1 is the parent's, 2 is a stranger's, 3 is the child's. */
async function setUp(of = child) {
  const recall = setUpRecall();
  const { tell } = recall;
  await tell([user("parents berth is seven")]);
  const read = toolCall("read", { path: "/a/b.txt" });
  await tell([user("strangers berth is nine"), toolResult(read, "v".repeat(5_000))], other, "o");
  await tell([user("child berth: count them")], of, "k");
  return recall;
}

/** Everything that a session can be shown of the words that are told above. */
async function everythingShown(call: Awaited<ReturnType<typeof setUp>>["call"], of = child) {
  const everywhere = { allConversations: true };
  const asked: [string, object][] = [
    ["lcm_grep", { pattern: "berth", ...everywhere }],
    ["lcm_grep", { pattern: "berth", mode: "regex", ...everywhere }],
    ["lcm_grep", { pattern: "berth", sort: "relevance", ...everywhere }],
    ...[1, 2].flatMap((conversationId): [string, object][] => [
      ["lcm_grep", { pattern: "berth", conversationId }],
      ["lcm_grep", { pattern: "berth", conversationId, ...everywhere }],
    ]),
    ["lcm_describe", { id: "#1-#9", ...everywhere }],
    ["lcm_describe", { id: "e0", ...everywhere }],
    ["lcm_describe", { id: "/a/b.txt", ...everywhere }],
    ["lcm_expand_query", { prompt: "whose berth", ...everywhere }],
    ["lcm_expand", { query: "berth", ...everywhere }],
  ];
  const shown: string[] = [];
  for (const [name, args] of asked) shown.push(await call(name, args, of));
  return shown.join("\n");
}

describe("a child session", () => {
  it("sees only its own conversation with every tool where nothing is granted to it", async () => {
    const { call } = await setUp();
    const shown = await everythingShown(call);
    expect(shown).not.toMatch(/parents|strangers|vvv/);
    expect(await call("lcm_grep", { pattern: "berth", allConversations: true }, child)).toMatch(
      /count them[\s\S]*Only what was said in this session itself was looked at/,
    );
    expect(await call("lcm_grep", { pattern: "berth", conversationId: 1 }, child)).toBe(
      "There is no conversation 1 that this session may read.",
    );
  });

  it("sees what it was granted besides, until the grant ends, and never a stranger's", async () => {
    const { engine, call, clock } = await setUp();
    await engine.prepareSubagentSpawn!(spawn(session, child, 1_000));
    const shown = await everythingShown(call);
    expect(shown).toContain("parents berth");
    expect(shown).not.toMatch(/strangers|vvv/);
    expect(await call("lcm_grep", { pattern: "berth" }, child)).not.toContain("parents");
    expect(await call("lcm_describe", { id: "#1", conversationId: 1 }, child)).toContain("seven");
    clock.ms = 1_000;
    expect(await everythingShown(call)).not.toMatch(/parents|strangers/);
  });

  it("is one whatever its key looks like when it was started as one, also after its grant", async () => {
    const plain = { sessionId: "p1", sessionKey: "agent:main:helper" };
    const { engine, call } = await setUp(plain);
    await engine.prepareSubagentSpawn!(spawn(session, plain));
    await engine.onSubagentEnded!({ childSessionKey: plain.sessionKey, reason: "completed" });
    expect(await everythingShown(call, plain)).not.toMatch(/parents|strangers/);
  });

  it("reads with all tools together no more than the tokens of its grant", async () => {
    const { engine, tell, call } = await setUp();
    await tell([user(`parents log: ${"berth seven is taken, ".repeat(2_000)}`)], session, "long");
    await engine.prepareSubagentSpawn!(spawn(session, child));
    let chars = 0;
    for (let time = 0; time < 10; time++)
      for (const id of ["#1", "#5"])
        chars += (await call("lcm_describe", { id, conversationId: 1 }, child)).length;
    // 4,000 tokens of at most six characters, and twenty sentences.
    expect(chars).toBeLessThan(4_000 * 6 + 20 * 200);
    expect(await call("lcm_grep", { pattern: "berth", conversationId: 1 }, child)).toBe(
      "The tokens of this session's grant are used up.",
    );
    expect(await call("lcm_grep", { pattern: "berth" }, child)).toContain("count them");
  });

  it("keeps a newer grant when an older start of it is undone", async () => {
    const { engine, call } = await setUp();
    const older = await engine.prepareSubagentSpawn!(spawn(session, child));
    const newer = await engine.prepareSubagentSpawn!(spawn(other, child));
    await older!.rollback();
    expect(await call("lcm_expand", { query: "berth" }, child)).toContain("strangers");
    await newer!.rollback();
    expect(await call("lcm_expand", { query: "berth" }, child)).toBe("(not offered)");
  });
});

describe("a session that nobody started", () => {
  it("reads another one's conversation when it says allConversations, and is told so", async () => {
    const { call } = await setUp();
    const asked = { pattern: "berth", conversationId: 2 };
    expect(await call("lcm_grep", asked)).toBe(
      "Conversation 2 is another session's; allConversations: true opens it.",
    );
    expect(await call("lcm_describe", { id: "#2", conversationId: 2 })).toMatch(/^Conversation 2/);
    const opened = await call("lcm_grep", { ...asked, allConversations: true });
    expect(opened).toMatch(/strangers/);
    expect(opened).not.toMatch(/parents/);
    expect(await call("lcm_grep", { ...asked, conversationId: 77 })).toBe(
      "There is no conversation 77 that this session may read.",
    );
  });
});

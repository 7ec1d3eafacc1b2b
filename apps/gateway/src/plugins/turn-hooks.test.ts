// What plugins are told while a turn runs, and what they may change of it.
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { temporaryHome } from "../testing/home.ts";
import { startPluginGateway, writePlugin } from "../testing/plugins.ts";

type Seen = { hook: string; event: Record<string, unknown>; context: Record<string, unknown> };

/** A gateway whose plugin keeps all that its hooks are told, and answers by `answers`. */
async function listening({
  hooks,
  answers = "",
  permissions = { allowConversationAccess: true },
}: {
  hooks: readonly string[];
  answers?: string;
  permissions?: object;
}) {
  const home = await temporaryHome();
  const seen: Seen[] = [];
  const world = globalThis as { hooksSeen?: Seen[] };
  world.hooksSeen = seen;
  onTestFinished(() => {
    delete world.hooksSeen;
  });
  const folder = writePlugin(join(home, "sources/ear"), {
    id: "ear",
    manifest: { contracts: { tools: ["dip"] } },
    code: `const answers = { ${answers} };
    export default (api) => {
      for (const hook of ${JSON.stringify(hooks)})
        api.on(hook, (event, context) => {
          globalThis.hooksSeen.push({ hook, event: structuredClone(event), context });
          return answers[hook]?.(event, context);
        });
      api.registerTool({ name: "dip", description: "Dips.", annotations: { readOnlyHint: true },
        parameters: { type: "object", properties: { depth: { type: "number" } } },
        execute: (id, { depth }) => ({ content: [{ type: "text", text: "wet to " + depth }] }) });
    };`,
  });
  const plugins = { load: { paths: [folder] }, entries: { ear: { hooks: permissions } } };
  const { gateway, say, log, stop, plugins: host } = await startPluginGateway({ plugins }, home);
  const of = (hook: string) => seen.filter((each) => each.hook === hook);
  return { gateway, say, log, seen, of, stop, plugins: host };
}

const TALK = ["message_received", "before_dispatch", "before_agent_start", "agent_end"];

describe("the hooks of a turn", () => {
  it("say what was said, where and by whom, and afterwards the whole of it", async () => {
    const { say, of, stop } = await listening({ hooks: TALK });
    await say("My boat is called Pelican.");
    await say("What is it called?");
    await stop();
    const [received] = of("message_received");
    expect(received).toMatchObject({
      event: { content: "My boat is called Pelican.", from: "owner", channel: "clew" },
      context: {
        ...{ agentId: "main", sessionKey: "agent:main:main", trigger: "user" },
        ...{ messageProvider: "clew", channelId: "clew", conversationId: "agent:main:main" },
        ...{ senderId: "owner", workspaceDir: expect.any(String), runId: expect.any(String) },
      },
    });
    const ends = of("agent_end");
    expect(ends.map(({ event }) => [event.success, (event.messages as unknown[]).length])).toEqual([
      [true, 2],
      [true, 4],
    ]);
    expect(ends[1]!.event.messages).toMatchObject([
      { role: "user", content: "My boat is called Pelican." },
      { role: "assistant" },
      { role: "user", content: "What is it called?" },
      { role: "assistant" },
    ]);
    expect(of("before_dispatch")).toHaveLength(2);
    expect(new Set(ends.map(({ context }) => context.runId)).size).toBe(2);
  });

  it("do not take a heartbeat for a person's message, and say what began it", async () => {
    const { gateway, of, stop } = await listening({ hooks: TALK });
    await gateway.send({ key: "main", content: "still there?", kind: "heartbeat" });
    await stop();
    expect(of("message_received")).toEqual([]);
    expect(of("agent_end").map(({ context }) => context.trigger)).toEqual(["heartbeat"]);
  });

  it("keep nobody waiting who looks on, and one that looks on longer than the turn still ends", async () => {
    const { say, of, stop, seen } = await listening({
      hooks: ["agent_end", "message_received"],
      answers: `agent_end: () => new Promise((done) => setTimeout(() => {
        globalThis.hooksSeen.push({ hook: "slow", event: {}, context: {} }); done(); }, 1_000))`,
    });
    expect((await say("hello")).outcome).toBe("completed");
    expect(of("slow")).toEqual([]);
    await stop();
    expect(seen.map(({ hook }) => hook)).toEqual(["message_received", "agent_end", "slow"]);
  });

  it("show a model's calls, and nothing done to what they show reaches the model", async () => {
    const { say, of, stop } = await listening({
      hooks: ["llm_input", "llm_output"],
      answers:
        "llm_input: (event) => { event.historyMessages.length = 0; event.systemPrompt = ''; }",
    });
    await say("one");
    const second = await say("two");
    await stop();
    expect(second.outcome).toBe("completed");
    expect(of("llm_input")[1]!.event).toMatchObject({
      prompt: "two",
      historyMessages: [{ role: "user" }, { role: "assistant" }],
      imagesCount: 0,
    });
    expect(of("llm_output")[0]!.event).toMatchObject({
      assistantTexts: [expect.any(String)],
      usage: expect.any(Object),
    });
    expect(of("llm_output")[0]!.context.runId).toBe(of("llm_input")[0]!.context.runId);
  });

  it("see the conversation where the operator lets them, and else say which setting does", async () => {
    const { gateway, say, seen, stop } = await listening({
      hooks: ["agent_end", "message_received"],
      permissions: {},
    });
    await say("hello");
    await stop();
    expect(seen.map(({ hook }) => hook)).toEqual(["message_received"]);
    expect(gateway.plugins!.records()[0]!.diagnostics).toEqual([
      expect.objectContaining({
        message: expect.stringContaining("plugins.entries.ear.hooks.allowConversationAccess"),
      }),
    ]);
  });
});

describe("the old hook before a run", () => {
  it("adds its system prompt to the host's instead of replacing it", async () => {
    const { say, of, stop } = await listening({
      hooks: ["before_agent_start", "llm_input"],
      answers:
        'before_agent_start: () => ({ systemPrompt: "MEMORY: Pelican", prependContext: "Recalled: Pelican" })',
    });
    await say("What is my boat called?");
    await stop();
    const { systemPrompt, prompt } = of("llm_input")[0]!.event;
    expect(systemPrompt).toMatch(/You are a helpful assistant[\s\S]+MEMORY: Pelican/);
    expect(prompt).toMatch(/^Recalled: Pelican\s+What is my boat called\?$/);
  });
});

describe("a hook before a message is stored", () => {
  const stored = async (answers: string) => {
    const { gateway, say, log, plugins } = await listening({
      hooks: ["before_message_write"],
      answers,
    });
    const { outcome } = await say("my key is hunter2");
    const { branch } = (await gateway.store.read("agent:main:main"))!;
    const messages = branch.flatMap((entry) => (entry.type === "message" ? [entry.message] : []));
    const warnings = log.lines.filter((line) => line.includes("ear"));
    return { outcome, messages, warnings, refused: plugins.records().at(-1)!.refused };
  };

  it("may put other words in its place", async () => {
    const { outcome, messages } = await stored(
      `before_message_write: ({ message }) => ({ message: { ...message, role: "system",
        content: typeof message.content === "string" ? message.content.replace("hunter2", "***")
          : message.content.map((block) => block.type === "text" ? { ...block, text: block.text.replaceAll("hunter2", "***") } : block) } })`,
    );
    expect(outcome).toBe("completed");
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
    expect(JSON.stringify(messages)).not.toContain("hunter2");
  });

  it("may not keep it away, nor make it another one, and is told so", async () => {
    const { outcome, messages, warnings, refused } = await stored(
      "before_message_write: ({ message }) => message.role === 'user' ? { block: true } : { message: { content: 7 } }",
    );
    expect([outcome, messages.length]).toEqual(["completed", 2]);
    expect(warnings).toEqual([
      expect.stringContaining("a message cannot be kept from being stored; it was stored"),
      expect.stringContaining("not the message with other texts; it was stored as it was"),
    ]);
    // So that inspection, doctor and GET /api/plugins tell of it.
    expect(refused).toMatchObject({
      count: 1,
      last: {
        message:
          "hook before_message_write: a message cannot be kept from being stored; it was stored",
      },
    });
  });
});

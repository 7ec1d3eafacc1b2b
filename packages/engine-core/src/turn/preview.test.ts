import { describe, expect, it } from "vitest";
import { callTool, MODEL, passThrough, testHost, tools } from "../__fixtures__/host.ts";
import { createSessionState, previewRequest, resolveContextEngine } from "../index.ts";

type Host = ReturnType<typeof testHost>;

async function preview(host: Host, settings = {}) {
  const plugins =
    host.registry.get("test") === undefined ? {} : { slots: { contextEngine: "test" } };
  const engine = await resolveContextEngine({ registry: host.registry, config: { plugins } });
  const { ports, state } = host;
  return previewRequest({
    engine,
    ports,
    state,
    model: MODEL,
    systemPrompt: [{ id: "base", text: "You are a test." }],
    ...settings,
  });
}

describe("a preview of the next request", () => {
  it("lists what the next turn then sends, item by item", async () => {
    const host = testHost({
      tools: tools({ look: () => "seen" }),
      replies: [callTool("look"), "first", "second"],
    });
    await host.say("one");
    const { call, promptEntryId, heldBack } = await preview(host);
    // A state of its own: its report lists everything instead of what is new.
    const { report } = await host.say("two", { state: createSessionState() });
    const sent = report.modelCalls[0]!;
    expect(heldBack).toBe(false);
    expect(call!.system).toEqual(sent.system);
    expect(call!.tools).toEqual(sent.tools);
    expect(call!.messages.items.slice(0, -1)).toEqual(sent.messages.items.slice(0, -1));
    expect(call!.messages.items).toHaveLength(5);
    expect(call!.messages.items.at(-1)!.source).toEqual({ kind: "entry", entryId: promptEntryId });
  });

  it("asks no model, appends nothing and leaves the next report a delta", async () => {
    const host = testHost();
    await host.say("one");
    const before = [...host.ports.transcript.entries];
    const calls = host.ports.model.calls.length;
    const told = host.events.length;
    const first = await preview(host);
    expect(await preview(host).then(({ call }) => call!.requestHash)).toBe(first.call!.requestHash);
    expect(host.ports.transcript.entries).toEqual(before);
    expect(host.ports.model.calls).toHaveLength(calls);
    await preview(host, { onEvent: (event: unknown) => host.events.push(event as never) });
    expect(host.events).toHaveLength(told);
    expect((await host.say("two")).report.modelCalls[0]!.messages.kept).toBeGreaterThan(0);
  });

  it("shows what an engine chooses and adds", async () => {
    const engine = passThrough({
      info: { id: "test", name: "Last two" },
      assemble: ({ messages }) => ({
        messages: messages.slice(-2),
        estimatedTokens: 0,
        systemPromptAddition: "Be brief.",
      }),
    });
    const host = testHost({ engine });
    for (const text of ["one", "two", "three"]) await host.say(text);
    const { call, report } = await preview(host);
    expect(call!.messages.items).toHaveLength(3);
    expect(call!.system.map(({ source }) => source.kind === "system" && source.part)).toContain(
      "engine",
    );
    expect(report.engine.ran).toBe("test");
    expect(report.budget).toMatchObject({ historyMessages: 6, assembledMessages: 2 });
  });

  it("says why the request would be held back instead of sent", async () => {
    const host = testHost();
    await host.say("word ".repeat(2000));
    const { call, heldBack, size } = await preview(host, {
      model: { ...MODEL, contextWindow: 1000 },
    });
    expect(call).toBeNull();
    expect(heldBack).toBe(true);
    expect(size).toMatchObject({ verdict: "over", source: "estimated" });
  });

  it("of a session that has none yet holds the system prompt and the next message", async () => {
    const host = testHost();
    const { call } = await preview(host);
    expect(call!.messages.items).toHaveLength(1);
    expect(host.ports.transcript.exists()).toBe(false);
  });
});

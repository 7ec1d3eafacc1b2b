import { delegateCompactionToRuntime } from "@clew/plugin-sdk/core";
import { describe, expect, it } from "vitest";
import { callTool, MODEL, passThrough, testHost, tools } from "../__fixtures__/host.ts";
import {
  createSessionState,
  type HostPorts,
  previewRequest,
  resolveContextEngine,
} from "../index.ts";

type Host = ReturnType<typeof testHost>;

const compactsNever = (told: string[]): NonNullable<HostPorts["compaction"]> => ({
  async compact() {
    told.push("compaction");
    return { ok: true, compacted: true };
  },
});

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

  it("compacts nothing: it says that the turn would, and who, before its request is sent", async () => {
    const told: string[] = [];
    const host = testHost({
      ports: {
        compaction: compactsNever(told),
        hooks: {
          beforeCompaction: async () => void told.push("hook"),
          afterCompaction: async () => void told.push("hook"),
        },
      },
    });
    await host.say("word ".repeat(2000));
    const before = [...host.ports.transcript.entries];
    const small = { model: { ...MODEL, contextWindow: 1000 } };
    const seen = await preview(host, small);
    expect(seen).toMatchObject({ heldBack: true, shrinks: { when: "before", by: "host" } });
    expect(seen.report.compactions).toEqual([]);
    expect([told, host.ports.transcript.entries]).toEqual([[], before]);
    expect(host.ports.model.calls).toHaveLength(1);
  });

  it("names the engine that owns compaction, and does not ask it to compact", async () => {
    let compacted = 0;
    const engine = passThrough({
      info: { id: "test", name: "Owner", ownsCompaction: true },
      compact: () => {
        compacted++;
        return { ok: true, compacted: true };
      },
    });
    const host = testHost({ engine });
    await host.say("word ".repeat(2000));
    const seen = await preview(host, { model: { ...MODEL, contextWindow: 1000 } });
    expect([seen.shrinks, compacted]).toEqual([{ when: "before", by: "engine" }, 0]);
  });

  it("above the high mark says that the host would compact after the reply", async () => {
    const told: string[] = [];
    const host = testHost({ ports: { compaction: compactsNever(told) } });
    await host.say("word ".repeat(2000), { settings: { autoCompaction: false } });
    const above = { settings: { water: { highWaterTokens: 1000, lowWaterTokens: 10 } } };
    const seen = await preview(host, above);
    expect(seen).toMatchObject({ heldBack: false, size: { verdict: "unpaid" }, shrinks: null });
    // Calls that repay it: the verdict is the planner's.
    for (let turn = 0; turn < 30; turn++)
      await host.say("and?", { settings: { autoCompaction: false } });
    expect((await preview(host, above)).shrinks).toEqual({ when: "after", by: "host" });
    expect((await preview(host, above)).call).not.toBeNull();
    const off = { settings: { ...above.settings, autoCompaction: false } };
    expect((await preview(host, off)).shrinks).toBeNull();
    expect(told).toEqual([]);
  });

  it("gives an engine no model to ask and no compaction that does anything", async () => {
    const told: string[] = [];
    const seen: unknown[] = [];
    const engine = passThrough({
      info: { id: "test", name: "Busy", acceptedHostParams: ["runtimeContext"] },
      async assemble({ messages, runtimeContext, sessionId }) {
        seen.push(runtimeContext?.llm);
        seen.push(
          await delegateCompactionToRuntime({ sessionId, sessionFile: "", tokenBudget: 1000 }),
        );
        return { messages, estimatedTokens: 0 };
      },
    });
    const host = testHost({ engine, ports: { compaction: compactsNever(told) } });
    await preview(host);
    expect(seen).toEqual([undefined, expect.objectContaining({ ok: true, compacted: false })]);
    expect(told).toEqual([]);
  });

  it("of a session that has none yet holds the system prompt and the next message", async () => {
    const host = testHost();
    const { call } = await preview(host);
    expect(call!.messages.items).toHaveLength(1);
    expect(host.ports.transcript.exists()).toBe(false);
  });
});

import { type AgentMessage, type ContextEngine, messageId } from "@clew/plugin-sdk/core";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { describe, expect, it } from "vitest";
import { MODEL, memoryTranscript, passThrough, testHost } from "../__fixtures__/host.ts";
import { compactSession, createDeliveryLedger, resolveContextEngine } from "../index.ts";

/** An engine that keeps what it is given, and can be told to refuse a text. */
function storing(overrides: Partial<ContextEngine> = {}) {
  const stored: { id: string; text: string; isHeartbeat: boolean }[] = [];
  const refused = new Set<string>();
  const textOf = (message: AgentMessage) =>
    message.role === "user" ? String(message.content) : message.role;
  const engine = passThrough({
    info: { id: "storing", name: "Storing" },
    afterTurn: ({ messages, prePromptMessageCount, isHeartbeat = false }) => {
      const fresh = messages.slice(prePromptMessageCount);
      const bad = fresh.find((message) => refused.has(textOf(message)));
      if (bad !== undefined) throw new Error(`cannot store "${textOf(bad)}"`);
      for (const message of fresh)
        stored.push({ id: messageId(message)!, text: textOf(message), isHeartbeat });
    },
    ...overrides,
  });
  return { engine, stored, refused, texts: () => stored.map(({ text }) => text) };
}

const session = (engine: ContextEngine, transcript = memoryTranscript()) =>
  testHost({
    engine,
    transcript: Object.assign(transcript, { deliveries: createDeliveryLedger() }),
    registry: { failurePolicy: () => "retry-next-turn" },
  });

describe("an engine that failed once", () => {
  it("gets the turn it missed before the next one, each message once", async () => {
    const { engine, texts, refused } = storing();
    const host = session(engine);
    refused.add("a");
    const first = await host.say("a");
    expect(first.report.deliveries).toEqual({ pending: 1, blocked: [] });
    refused.clear();
    const second = await host.say("b");
    expect(texts()).toEqual(["a", "assistant", "b", "assistant"]);
    expect(second.report).not.toHaveProperty("deliveries");
  });

  it("gets a missed turn with its own flag, also when a heartbeat brings it along", async () => {
    const { engine, stored, refused } = storing();
    const host = session(engine);
    refused.add("a");
    await host.say("a");
    refused.clear();
    await host.say("HEARTBEAT", { kind: "heartbeat" });
    expect(stored.map(({ text, isHeartbeat }) => [text, isHeartbeat])).toEqual([
      ["a", false],
      ["assistant", false],
      ["HEARTBEAT", true],
      ["assistant", true],
    ]);
  });
});

describe("a turn that an engine refuses three times", () => {
  it("is parked and named, and the turns after it go on", async () => {
    const { engine, texts, refused } = storing();
    const host = session(engine);
    refused.add("poison");
    for (const text of ["poison", "b", "c", "d"]) await host.say(text);
    const { report } = await host.say("e");
    expect(report.deliveries).toEqual({ pending: 0, blocked: ["entry-0"] });
    expect(texts().filter((text) => text !== "assistant")).toEqual(["b", "c", "d", "e"]);
    expect(host.log.lines.join("\n")).toContain("is blocked after 3 attempts");
  });

  it("is offered again when somebody asks for it", async () => {
    const { engine, texts, refused } = storing();
    const host = session(engine);
    refused.add("poison");
    for (const text of ["poison", "b", "c", "d"]) await host.say(text);
    refused.clear();
    const { deliveries } = host.ports.transcript;
    await deliveries!.save("test", { kind: "retry", turnId: "entry-0" });
    const { report } = await host.say("e");
    expect(texts().filter((text) => text !== "assistant")).toContain("poison");
    expect(report).not.toHaveProperty("deliveries");
  });

  it("is offered again to another version of the engine", async () => {
    const old = storing();
    const transcript = memoryTranscript();
    const host = session(old.engine, transcript);
    old.refused.add("poison");
    for (const text of ["poison", "b", "c", "d"]) await host.say(text);
    const { engine, texts } = storing({ info: { id: "storing", name: "Storing", version: "2" } });
    await testHost({ engine, transcript }).say("e");
    expect(texts()).toContain("poison");
  });
});

describe("entries of an older file, which carry no ids", () => {
  it("are handed over under the ids of their entries", async () => {
    const { engine, stored } = storing();
    const transcript = memoryTranscript();
    const host = session(engine, transcript);
    await host.say("a");
    const old: TranscriptEntry = {
      type: "message",
      id: "old-1",
      parentId: transcript.entries.at(-1)!.id,
      timestamp: "",
      message: { role: "user", content: "from an older file" },
    };
    await testHost({
      engine,
      transcript: Object.assign(memoryTranscript([...transcript.entries, old], "next-"), {
        deliveries: transcript.deliveries,
      } as object),
    }).say("b");
    expect(stored.map(({ id }) => id)).toContain("old-1");
    expect(new Set(stored.map(({ id }) => id)).size).toBe(stored.length);
  });
});

describe("a switch to another engine and back", () => {
  it("gives each engine what it missed, and nothing twice", async () => {
    const { engine, texts } = storing();
    const transcript = Object.assign(memoryTranscript(), { deliveries: createDeliveryLedger() });
    await testHost({ engine, transcript }).say("a");
    await testHost({ transcript, plugins: {} }).say("answered by another");
    await testHost({ engine, transcript }).say("c");
    expect(texts().filter((text) => text !== "assistant")).toEqual([
      "a",
      "answered by another",
      "c",
    ]);
  });
});

describe("a parked turn", () => {
  it("stays parked in the transcript its engine moves the session to", async () => {
    const { engine, texts, refused } = storing({
      compact: () => ({
        ok: true,
        compacted: true,
        result: { tokensBefore: 2, tokensAfter: 1, sessionId: "session-2" },
      }),
    });
    const host = session(engine);
    refused.add("poison");
    for (const text of ["poison", "b", "c", "d"]) await host.say(text);
    const { transcript } = host.ports;
    const old = structuredClone({
      entries: transcript.entries,
      known: transcript.deliveries!.read("test"),
    });
    const copyOf = (id: string | null) => (id === null ? null : `copy-of-${id}`);
    const copies = transcript.entries.map(
      (entry): TranscriptEntry => ({
        ...entry,
        id: copyOf(entry.id)!,
        parentId: copyOf(entry.parentId),
      }),
    );
    const successor = Object.assign(memoryTranscript(copies, "moved-"), {
      deliveries: createDeliveryLedger(),
    });
    Object.assign(successor.session, { sessionId: "session-2" });
    const { registry, ports, state } = host;
    const config = { plugins: { slots: { contextEngine: "test" } } };
    await compactSession({
      engine: await resolveContextEngine({ registry, config }),
      ports: { ...ports, successors: { adopt: async () => successor } },
      state,
      model: MODEL,
    });
    expect(successor.deliveries.read("test")).toEqual(old.known);
    expect(transcript.entries).toEqual(old.entries);
    expect(transcript.deliveries!.read("test")).toEqual(old.known);
    refused.clear();
    const moved = testHost({ engine, transcript: successor, state });
    expect((await moved.say("e")).report.deliveries).toEqual({ pending: 0, blocked: ["entry-0"] });
    expect(texts()).not.toContain("poison");
  });
});

import type { UserMessage } from "@clew/plugin-sdk/core";
import { describe, expect, it } from "vitest";
import { callTool, memoryTranscript, passThrough, testHost, tools } from "../__fixtures__/host.ts";
import { createDeliveryLedger } from "../index.ts";

type Said = Omit<UserMessage, "role">;

/** Gives each message once, as a host does. */
function saying(...first: Said[]) {
  let waiting = first;
  return {
    say: (message: Said) => void waiting.push(message),
    left: () => waiting.length,
    saidMeanwhile: () => {
      const taken = waiting;
      waiting = [];
      return taken;
    },
  };
}

describe("what is said while a turn runs", () => {
  it("is a message of the transcript between the tool's result and the next call", async () => {
    const person = saying();
    const host = testHost({
      replies: [callTool("look"), "done"],
      tools: tools({
        look: () => {
          person.say({ content: "rather something else", idempotencyKey: "k1" });
          return "seen";
        },
      }),
    });
    const { outcome } = await host.say("go", person);
    expect(outcome).toBe("completed");
    expect(host.lastSeen()).toEqual([
      ...["user: go", "assistant: [toolCall]", "toolResult: seen"],
      "user: rather something else",
    ]);
    const { entries } = host.ports.transcript;
    expect(entries[3]).toMatchObject({ message: { role: "user", idempotencyKey: "k1" } });
    expect(host.events).toContainEqual(
      expect.objectContaining({ type: "message", entryId: entries[3]!.id }),
    );
  });

  it("waits where no tool runs", async () => {
    const person = saying({ content: "later" });
    const host = testHost({ replies: ["done"] });
    await host.say("go", person);
    expect(person.left()).toBe(1);
    expect(host.ports.transcript.entries).toHaveLength(2);
  });

  it("waits where the turn is cancelled while the tool runs", async () => {
    const person = saying({ content: "later" });
    const stop = new AbortController();
    const host = testHost({
      replies: [callTool("look"), "done"],
      tools: tools({
        look: () => {
          stop.abort(new DOMException("stop", "AbortError"));
          return "seen";
        },
      }),
    });
    const { outcome } = await host.say("go", { ...person, signal: stop.signal });
    expect(outcome).toBe("aborted");
    expect(person.left()).toBe(1);
  });

  it("may not be left out of the view by an engine that chooses in the loop", async () => {
    const person = saying({ content: "rather this" });
    const engine = passThrough({
      info: { id: "test", name: "Owner", ownsCompaction: true },
      assemble: ({ messages }) => ({
        messages: messages.filter(({ role }, index) => index === 0 || role !== "user"),
        estimatedTokens: 0,
      }),
    });
    const host = testHost({
      engine,
      replies: [callTool("look", {}, "c1"), callTool("look", {}, "c2"), "done"],
      tools: tools({ look: () => "seen" }),
    });
    const { report } = await host.say("go", person);
    expect(report.views?.fallbacks).toBe(2);
    expect(host.lastSeen()).toContain("user: rather this");
  });

  it("is told to an eager engine once, in its place", async () => {
    const person = saying({ content: "rather this" });
    const told: string[] = [];
    const engine = passThrough({
      info: { id: "test", name: "Eager" },
      ingest({ message }) {
        told.push(message.role === "user" ? String(message.content) : message.role);
        return { ingested: true };
      },
    });
    const host = testHost({
      engine,
      replies: [callTool("look"), "done"],
      tools: tools({ look: () => "seen" }),
    });
    await host.say("go", person);
    await host.say("and now");
    expect(told).toEqual([
      ...["go", "assistant", "toolResult", "rather this", "assistant"],
      ...["and now", "assistant"],
    ]);
  });

  it("is committed to a durable engine with all that was said, once", async () => {
    const person = saying({ content: "rather this" });
    const commits: string[] = [];
    const engine = passThrough({
      info: {
        id: "test",
        name: "Durable",
        transcriptSemantics: {
          currentTurnFence: "before-current-turn-entry-v1",
          turnAdvancementIdempotency: "atomic-idempotent-v1",
        },
      },
      commitTurn({ messages }) {
        commits.push(
          messages.map((m) => (m.role === "user" ? String(m.content) : m.role)).join(" "),
        );
        return { status: "committed" };
      },
    });
    const host = testHost({
      engine,
      transcript: Object.assign(memoryTranscript(), { deliveries: createDeliveryLedger() }),
      replies: [callTool("look"), "done"],
      tools: tools({ look: () => "seen" }),
    });
    await host.say("go", person);
    expect(commits).toEqual(["go assistant toolResult", "rather this assistant"]);
  });
});

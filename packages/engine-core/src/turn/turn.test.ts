import { ContextEngineError, messageId, type UserMessage } from "@clew/plugin-sdk/core";
import type { MessageEntry } from "@clew/plugin-sdk/transcript";
import { describe, expect, it } from "vitest";
import { callTool, passThrough, testHost, tools } from "../__fixtures__/host.ts";

describe("a turn", () => {
  it("stores the prompt before the model is called, and the reply after it", async () => {
    const host = testHost({
      replies: [() => `entries before the call: ${host.ports.transcript.entries.length}`],
    });
    const result = await host.say("hi");
    expect(result.outcome).toBe("completed");
    expect(result.reply?.content).toEqual([{ type: "text", text: "entries before the call: 1" }]);
    expect(
      host.ports.transcript.entries.map((entry) => entry.type === "message" && entry.message.role),
    ).toEqual(["user", "assistant"]);
    expect(host.events.map((event) => event.type)).toEqual([
      "accepted",
      "call",
      "text",
      "call_end",
      "message",
    ]);
  });

  it("stores a message that is sent again as another one, with an id of its own", async () => {
    const given: (string | undefined)[] = [];
    const host = testHost({
      engine: passThrough({
        info: { id: "test", name: "Test" },
        ingest({ message }) {
          given.push(messageId(message));
          return { ingested: true };
        },
      }),
    });
    await host.say("hi", { kind: "heartbeat" });
    const [first] = host.ports.transcript.entries;
    const { role: _role, ...again } = (first as MessageEntry).message as UserMessage;
    await host.say("hi", { prompt: again });
    expect(given).toEqual(host.ports.transcript.entries.map(({ id }) => id));
    expect(host.ports.transcript.entries[2]).toMatchObject({ message: { content: "hi" } });
    expect(host.ports.transcript.entries[2]).not.toHaveProperty("message.__openclaw.kind");
  });

  it("sends history, then the prompt, oldest first", async () => {
    const host = testHost({ replies: ["one", "two"] });
    await host.say("first");
    await host.say("second");
    expect(host.lastSeen()).toEqual(["user: first", "assistant: one", "user: second"]);
  });

  it("runs tools until the model answers and gives each call its result", async () => {
    const host = testHost({
      replies: [callTool("add", { a: 1 }), "three"],
      tools: tools({ add: ({ a }) => `sum ${String(a)}` }),
    });
    const result = await host.say("add");
    expect(host.lastSeen()).toEqual(["user: add", "assistant: [toolCall]", "toolResult: sum 1"]);
    expect(result.report.toolCalls).toMatchObject([{ name: "add", isError: false }]);
    expect(result.report.modelCalls).toHaveLength(2);
  });

  it("reports of each call what the newest entry was", async () => {
    const host = testHost({ replies: [callTool("add"), "done"], tools: tools({ add: () => "1" }) });
    const { report } = await host.say("add");
    const { entries } = host.ports.transcript;
    expect(report.modelCalls.map(({ leafId }) => leafId)).toEqual([entries[0]!.id, entries[2]!.id]);
  });

  it("answers a tool that throws with an error result instead of failing", async () => {
    const host = testHost({
      replies: [callTool("bad"), "sorry"],
      tools: tools({
        bad: () => {
          throw new Error("disk on fire");
        },
      }),
    });
    const result = await host.say("go");
    expect(result.outcome).toBe("completed");
    expect(host.lastSeen().at(-1)).toBe('toolResult: Tool "bad" failed: disk on fire');
    expect(result.report.toolCalls).toMatchObject([
      { name: "bad", isError: true, note: 'Tool "bad" failed: disk on fire' },
    ]);
  });

  it("reports of why a tool refused no more than its beginning, and nothing of what one answers", async () => {
    const host = testHost({
      replies: [callTool("bad"), callTool("good"), "done"],
      tools: tools({
        bad: () => {
          throw new Error("no\n".repeat(1000));
        },
        good: () => "secret",
      }),
    });
    const [bad, good] = (await host.say("go")).report.toolCalls;
    expect(bad!.note).toHaveLength(500);
    expect(bad!.note).toContain("no no no");
    expect(good).not.toHaveProperty("note");
  });

  it("keeps what the person sent and shows hook additions to the model only", async () => {
    const host = testHost();
    await host.say("hello", {
      beforePromptBuild: async () => ({
        prependContext: "[today is Friday]",
        appendSystemContext: "Be brief.",
      }),
    });
    expect(host.lastSeen()).toEqual(["user: [today is Friday]\n\nhello"]);
    expect(host.ports.model.calls[0]?.systemPrompt).toBe("You are a test.\n\nBe brief.");
    expect(host.ports.transcript.entries[0]).toMatchObject({
      message: { role: "user", content: "hello" },
    });
  });

  it("puts the engine's addition before the system prompt, or right after its cacheable part", async () => {
    const engine = passThrough({
      info: { id: "memory", name: "Memory" },
      assemble: ({ messages }) => ({
        messages,
        estimatedTokens: 0,
        systemPromptAddition: "  Remember.\r\n\r\n",
      }),
    });
    const plain = testHost({ engine });
    await plain.say("hi");
    expect(plain.ports.model.calls[0]?.systemPrompt).toBe("Remember.\n\nYou are a test.");
    const marked = testHost({ engine });
    await marked.say("hi", {
      systemPrompt: [
        { id: "base", text: "Stable.", cacheBoundary: true },
        { id: "rest", text: "Changing." },
      ],
    });
    expect(marked.ports.model.calls[0]?.systemPrompt).toBe("Stable.\n\nRemember.\n\nChanging.");
  });

  it("keeps the partial reply of a failed call in the record and says why", async () => {
    const host = testHost({
      replies: [{ error: { kind: "unavailable", message: "The server is down." } }],
    });
    const result = await host.say("hi");
    expect(result).toMatchObject({
      outcome: "failed",
      reply: null,
      error: { kind: "unavailable", message: "The server is down." },
    });
    expect(host.ports.transcript.entries.at(-1)).toMatchObject({
      message: { role: "assistant", stopReason: "error", errorMessage: "The server is down." },
    });
    expect(result.report).toMatchObject({ outcome: "failed", reason: "The server is down." });
  });

  it("is aborted, not failed, when the person cancels; running tools are answered", async () => {
    const abort = new AbortController();
    const host = testHost({
      replies: [callTool("slow")],
      tools: tools({
        slow: (_args, signal) =>
          new Promise((_resolve, reject) => {
            signal.addEventListener("abort", () => reject(signal.reason));
            abort.abort();
          }),
      }),
    });
    const result = await host.say("go", { signal: abort.signal });
    expect(result.outcome).toBe("aborted");
    const roles = host.ports.transcript.entries.map(
      (entry) => entry.type === "message" && entry.message.role,
    );
    expect(roles).toEqual(["user", "assistant", "toolResult", "assistant"]);
    expect(host.registry.quarantine.list()).toEqual([]);
  });

  it("ends a model that asks for tools for ever", async () => {
    const host = testHost({ replies: [callTool("again")], tools: tools({ again: () => "more" }) });
    const result = await host.say("go", { settings: { maxModelCalls: 3 } });
    expect(result).toMatchObject({ outcome: "failed" });
    expect(result.error?.message).toContain("3 times");
  });
});

describe("a turn with a reply that claims the id of its prompt", () => {
  it("shows the model the prompt in each further call", async () => {
    const host = testHost({
      replies: [{ ...callTool("look"), __openclaw: { id: "entry-0" } }, "done"],
      tools: tools({ look: () => "seen" }),
    });
    await host.say("go");
    const [prompt] = host.ports.transcript.branch();
    expect(prompt!.id).toBe("entry-0");
    expect(host.lastSeen()).toEqual(["user: go", "assistant: [toolCall]", "toolResult: seen"]);
  });
});

describe("a turn whose reply cannot be stored", () => {
  it("fails with the code of the storage's error, in the result and in the report", async () => {
    const host = testHost({
      replies: [
        () => {
          host.ports.transcript.append = () =>
            Promise.reject(new ContextEngineError("STORAGE_FAILED", "The disk is full."));
          return "lost";
        },
      ],
    });
    expect(await host.say("hi")).toMatchObject({
      outcome: "failed",
      error: { kind: "host", code: "STORAGE_FAILED", message: "The disk is full." },
      report: { code: "STORAGE_FAILED", reason: "The disk is full." },
    });
  });
});

describe("the turn report", () => {
  it("lists each item with its source, and only what is new since the last call", async () => {
    const host = testHost({ replies: ["one", "two", "three"] });
    const first = await host.say("first");
    const second = await host.say("second");
    expect(first.report.modelCalls[0]?.messages).toMatchObject({
      kept: 0,
      items: [{ source: { kind: "entry" }, code: "prompt", reason: "prompt" }],
    });
    expect(second.report.modelCalls[0]?.messages.kept).toBe(1);
    expect(second.report.modelCalls[0]?.messages.items.map((item) => item.role)).toEqual([
      "assistant",
      "user",
    ]);
    const [system] = second.report.modelCalls[0]!.system;
    expect(system?.code).toBe("system-prompt");
    expect(second.parts[system!.hash]).toBe("You are a test.");
  });

  it("does not grow with the history", async () => {
    const host = testHost();
    const sizes: number[] = [];
    for (let turn = 0; turn < 60; turn++)
      sizes.push(JSON.stringify((await host.say(`turn ${turn}`)).report).length);
    expect(Math.max(...sizes.slice(2))).toBeLessThan(sizes[1]! * 1.2);
  });

  it("writes a full list every 64 calls, so that a file can be read from the middle", async () => {
    const host = testHost();
    const kept: number[] = [];
    for (let turn = 0; turn < 66; turn++)
      kept.push((await host.say("x")).report.modelCalls[0]!.messages.kept);
    expect(kept.flatMap((count, index) => (count === 0 ? [index] : []))).toEqual([0, 64]);
  });

  it("gives equal requests equal hashes, in another process too", async () => {
    const run = async () => {
      const host = testHost({ replies: ["one", "two"] });
      await host.say("first");
      return (await host.say("second")).report.modelCalls[0]!.requestHash;
    };
    expect(await run()).toBe(await run());
  });

  it("marks what the engine made and stores its content as a part", async () => {
    const engine = passThrough({
      info: { id: "notes", name: "Notes" },
      assemble: ({ messages }) => ({
        messages: [{ role: "user", content: "a note" }, ...messages],
        estimatedTokens: 3,
        contextProjection: { mode: "thread_bootstrap", epoch: "notes-1" },
      }),
    });
    const result = await testHost({ engine }).say("hi");
    const [note] = result.report.modelCalls[0]!.messages.items;
    expect(note).toMatchObject({ source: { kind: "engine" }, role: "user" });
    expect(result.parts[note!.hash]).toContain("a note");
    expect(result.report.budget?.engineEstimate).toBe(3);
    expect(result.report.engine.projection).toEqual({ mode: "thread_bootstrap", epoch: "notes-1" });
  });
});

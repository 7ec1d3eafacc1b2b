import type { ContextEngine } from "@clew/plugin-sdk/core";
import { describe, expect, it } from "vitest";
import {
  callTool,
  MODEL,
  passThrough,
  type TestHost,
  testHost,
  tools,
} from "../__fixtures__/host.ts";
import {
  type HostPorts,
  prepareSubagentSpawn,
  previewRequest,
  type ResolvedEngine,
  resolveContextEngine,
} from "../index.ts";

const mine = (overrides: Partial<ContextEngine>) =>
  passThrough({ info: { id: "mine", name: "Mine" }, ...overrides });

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

describe("an engine whose info throws what cannot even be looked at", () => {
  it("is set aside, and the fallback answers", async () => {
    const engine = Object.defineProperty(mine({}), "info", {
      get() {
        throw revoked();
      },
    });
    const host = testHost({ engine });
    const result = await host.say("hi");
    expect(result.outcome).toBe("completed");
    expect(host.ports.transcript.entries).toHaveLength(2);
  });
});

describe("an async listener that rejects", () => {
  it("costs the turn and the process nothing, and is logged once", async () => {
    const unhandled: unknown[] = [];
    const note = (error: unknown) => unhandled.push(error);
    process.on("unhandledRejection", note);
    const host = testHost();
    const reject = async () => {
      throw new Error("no display");
    };
    const result = await host.say("hi", { onEvent: reject, onStep: reject });
    await new Promise((resolve) => setImmediate(resolve));
    process.off("unhandledRejection", note);
    expect(result.outcome).toBe("completed");
    expect(unhandled).toEqual([]);
    expect(host.log.lines.filter((line) => line.includes("no display"))).toHaveLength(1);
  });
});

describe("a listener that writes on a message", () => {
  it("cannot change what the model is sent next", async () => {
    const host = testHost();
    await host.say("hi", {
      onEvent: (event) => {
        if (event.type === "message") (event.message as { content: unknown }).content = "[hidden]";
      },
    });
    await host.say("again");
    expect(host.lastSeen()).toEqual(["user: hi", "assistant: ok", "user: again"]);
  });
});

describe("a rewrite", () => {
  it("that makes another role of a message is refused, and nothing is rewritten", async () => {
    const refusals: string[] = [];
    const host = testHost({
      engine: mine({
        async maintain({ runtimeContext }) {
          const message = { role: "custom" as const, customType: "x", content: "hidden" };
          await runtimeContext!.rewriteTranscriptEntries!({
            replacements: [{ entryId: "entry-0", message }],
          }).catch((error: { code: string; message: string }) =>
            refusals.push(`${error.code} ${error.message}`),
          );
          return { changed: false, bytesFreed: 0, rewrittenEntries: 0 };
        },
      }),
    });
    await host.say("hi");
    await host.say("again");
    expect(refusals[0]).toMatch(/^REQUEST_INVALID .*role user, .* role custom; keep the role/);
    expect(host.lastSeen()).toContain("user: hi");
  });
});

describe("tools that cannot be listed", () => {
  const broken = {
    list: () => {
      throw new Error("mcp is down");
    },
    run: () => Promise.reject(new Error("never")),
  };

  it("fail the turn after its message was stored, and keep no engine", async () => {
    let disposed = 0;
    const host = testHost({ engine: () => mine({ dispose: () => void disposed++ }) });
    const ports = { ...host.ports, tools: broken };
    const { outcome, error } = await host.say("hi", { ports });
    expect([outcome, error]).toEqual([
      "failed",
      { kind: "host", message: "The host could not list its tools: mcp is down" },
    ]);
    expect(host.ports.transcript.entries).toMatchObject([{ message: { content: "hi" } }]);
    await expect(preview(host, ports)).rejects.toThrow("mcp is down");
    host.registry.register({
      engineId: "test",
      owner: "plugin:test",
      allowSameOwnerRefresh: true,
      factory: () => mine({}),
    });
    await host.say("again");
    expect(disposed).toBe(1);
  });
});

describe("a turn that its host lets ask no model", () => {
  it("stores the message and the reason behind it, and asks nobody", async () => {
    const host = testHost({ replies: ["never"] });
    const refusal = { code: "COST_CAP_REACHED" as const, message: "The cap is spent." };
    const { outcome, error, report } = await host.say("hi", { refusal });
    expect([outcome, error]).toEqual(["failed", { kind: "host", ...refusal }]);
    expect(report.modelCalls).toEqual([]);
    expect(host.ports.transcript.entries).toMatchObject([
      { message: { content: "hi" } },
      { message: { role: "assistant", stopReason: "error", errorMessage: "The cap is spent." } },
    ]);
    expect((await host.say("again")).outcome).toBe("completed");
  });
});

describe("what a tool returns", () => {
  const cyclic: Record<string, unknown> = { name: "x" };
  cyclic.self = cyclic;
  const text = [{ type: "text", text: "found" }];
  const ask = async (outcome: unknown) => {
    const host = testHost({
      replies: [callTool("t"), "done"],
      tools: { ...tools({ t: () => "" }), run: async () => outcome as never },
    });
    const results = [await host.say("a"), await host.say("b")];
    expect(results.map(({ outcome }) => outcome)).toEqual(["completed", "completed"]);
    return host.ports.transcript.entries.flatMap((entry) =>
      entry.type === "message" && entry.message.role === "toolResult" ? [entry.message] : [],
    )[0]!;
  };

  it.each([
    ["nothing", undefined, /its result cannot be used \(content is missing/],
    ["a text", "found", /cannot be used/],
    ["a bigint", { content: [{ type: "text", text: 1n }] }, /content\[0\]\.text is a bigint/],
    ["a function", { content: [{ type: "text", text: () => "x" }] }, /is a function/],
    ["no list", { content: "found" }, /./],
    ["a circle", { content: [cyclic] }, /contains itself/],
  ])("is a failure of the tool when it is %s", async (_name, outcome, reason) => {
    const result = await ask(outcome);
    if (outcome === undefined || result.isError) {
      expect(result.isError).toBe(true);
      expect(JSON.stringify(result.content)).toMatch(reason);
    } else expect(typeof result.content).toBe("string");
  });

  it("loses details that nobody could store, and nothing else", async () => {
    const result = await ask({ content: text, isError: false, details: cyclic });
    expect(result).toMatchObject({ content: text, isError: false });
    expect(result).not.toHaveProperty("details");
  });
});

describe("an engine that cannot be made, under strict", () => {
  it("fails the turn after its message was stored", async () => {
    const host = testHost({
      engine: () => {
        throw new Error("no database");
      },
    });
    const engine = await resolveContextEngine({
      registry: host.registry,
      config: { plugins: { slots: { contextEngine: "test" } } },
      strict: () => true,
    });
    const result = await host.say("hi", { engine });
    expect(result).toMatchObject({ outcome: "failed", reply: null });
    expect(result.error).toMatchObject({ kind: "engine", code: "ENGINE_FACTORY_FAILED" });
    expect(result.error?.message).toContain("no database");
    expect(host.ports.transcript.entries).toHaveLength(1);
    expect(host.ports.model.calls).toEqual([]);
    await expect(preview(host, host.ports, engine)).rejects.toThrow("no database");
  });
});

describe("a rejected promise in a field that nobody reads", () => {
  it("does not end the process", async () => {
    const unhandled: unknown[] = [];
    const note = (error: unknown) => unhandled.push(error);
    process.on("unhandledRejection", note);
    const host = testHost({
      engine: () => ({
        ...mine({}),
        info: { id: "mine", name: "Mine", extra: Promise.reject(new Error("info")) } as never,
        assemble: ({ messages }) =>
          ({ messages, estimatedTokens: 1, extra: Promise.reject(new Error("result")) }) as never,
      }),
    });
    expect((await host.say("hi")).report.engine.ran).toBe("test");
    await new Promise((resolve) => setImmediate(resolve));
    process.off("unhandledRejection", note);
    expect(unhandled).toEqual([]);
  });
});

describe("a transcript that cannot be read", () => {
  it("takes the person's message all the same", async () => {
    const host = testHost();
    host.ports.transcript.read = () => Promise.reject(new Error("EIO"));
    const { outcome } = await host.say("hi");
    expect(outcome).toBe("failed");
    expect(host.ports.transcript.entries).toMatchObject([{ message: { content: "hi" } }]);
  });
});

describe("the rollback of a child session", () => {
  it("that never settles is given up, and logged", async () => {
    const host = testHost({
      engine: mine({ prepareSubagentSpawn: () => ({ rollback: () => new Promise(() => {}) }) }),
      registry: { bounds: () => ({ prepareSubagentSpawn: 20 }) },
    });
    const engine = await resolveContextEngine({
      registry: host.registry,
      config: { plugins: { slots: { contextEngine: "test" } } },
    });
    const params = { parentSessionKey: "a", childSessionKey: "b" };
    const execution = { id: "x", name: "X", capabilities: [] } as never;
    const spawn = await prepareSubagentSpawn({ engine, host: execution, params, log: host.log });
    await spawn.rollback();
    expect(host.log.lines.join()).toMatch(
      /rollback failed: .*did not finish the rollback .*0\.02 s/,
    );
  });
});

async function preview(host: TestHost, ports: HostPorts, resolved?: ResolvedEngine) {
  const engine =
    resolved ??
    (await resolveContextEngine({
      registry: host.registry,
      config: { plugins: { slots: { contextEngine: "test" } } },
    }));
  const systemPrompt = [{ id: "base", text: "x" }];
  return previewRequest({ engine, ports, state: host.state, model: MODEL, systemPrompt });
}

describe("a view", () => {
  const looping = (assemble: ContextEngine["assemble"], ownsCompaction = false) =>
    testHost({
      engine: passThrough({ info: { id: "torn", name: "Torn", ownsCompaction }, assemble }),
      replies: [callTool("t"), "done", "yes"],
      tools: tools({ t: () => "x" }),
    });

  it("that tears a call from its result is not sent, where nobody repairs it", async () => {
    const host = looping(({ messages }) => ({
      messages: messages.filter(({ role }) => role !== "toolResult"),
      estimatedTokens: 0,
    }));
    await host.say("hi");
    const { outcome, report } = await host.say("again");
    expect(outcome).toBe("completed");
    expect(report.views).toEqual({ fallbacks: 1 });
    expect(host.lastSeen()).toContain("toolResult: x");
  });

  it("that empties the prompt under its own id lacks it", async () => {
    const host = looping(
      ({ messages }) => ({
        messages: messages.map((message) =>
          message.role === "user" ? { ...message, content: "" } : message,
        ),
        estimatedTokens: 0,
      }),
      true,
    );
    const { report } = await host.say("hi");
    expect(report.views?.fallbacks).toBeGreaterThan(0);
    expect(host.lastSeen()[0]).toBe("user: hi");
  });

  it("may show a history's own torn call, which nobody can mend", async () => {
    const host = looping(({ messages }) => ({ messages, estimatedTokens: 0 }));
    await host.ports.transcript.append([
      { type: "message", message: { role: "user", content: "old" } },
      { type: "message", message: callTool("t", {}, "lost") },
    ]);
    expect((await host.say("hi")).report.views).toBeUndefined();
  });

  it("that gives the prompt's id to something else lacks the prompt", async () => {
    const host = looping(
      ({ messages }) => ({
        messages: messages.map((message) =>
          message.role === "user"
            ? { ...message, role: "custom" as const, customType: "x", content: "not it" }
            : message,
        ),
        estimatedTokens: 0,
      }),
      true,
    );
    const { report } = await host.say("hi");
    expect(report.views?.fallbacks).toBe(1);
    expect(host.lastSeen()[0]).toBe("user: hi");
  });

  it.each([
    ["a text block without text", { role: "assistant", content: [{ type: "text" }] }],
    ["a text that is a number", { role: "user", content: [{ type: "text", text: 5 }] }],
    [
      "a call without an id",
      { role: "assistant", content: [{ type: "toolCall", name: "t", arguments: {} }] },
    ],
    ["a result without its call's id", { role: "toolResult", content: [] }],
  ])("with %s is refused by the field's name", async (_, message) => {
    const host = testHost({
      engine: mine({ assemble: () => ({ messages: [message as never], estimatedTokens: 0 }) }),
    });
    const { report } = await host.say("hi");
    expect(report.engine.degraded?.reason).toMatch(/messages\[0\].* expected /);
  });
});

describe("what an engine has not taken", () => {
  it("includes a message whose turn was cancelled before the engine was looked at", async () => {
    const told: string[] = [];
    const host = testHost({
      engine: mine({
        ingest: ({ message }) => {
          told.push(message.role === "user" ? String(message.content) : message.role);
          return { ingested: true };
        },
      }),
    });
    await host.say("one", { signal: AbortSignal.abort() });
    await host.say("two");
    expect(told).toEqual(["one", "two", "assistant"]);
  });

  it("is in the report of the very turn that left it", async () => {
    let fails = true;
    const host = testHost({
      engine: mine({
        assemble: ({ messages }) => {
          if (fails) throw new Error("no");
          return { messages, estimatedTokens: 0 };
        },
      }),
      registry: { failurePolicy: () => "retry-next-turn" },
    });
    expect((await host.say("one")).report.deliveries).toEqual({ pending: 1, blocked: [] });
    fails = false;
    expect((await host.say("two")).report.deliveries).toBeUndefined();
  });
});

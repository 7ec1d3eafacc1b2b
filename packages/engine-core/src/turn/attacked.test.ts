import type { ContextEngine } from "@clew/plugin-sdk/core";
import { describe, expect, it } from "vitest";
import { callTool, passThrough, testHost, tools } from "../__fixtures__/host.ts";
import { prepareSubagentSpawn, resolveContextEngine } from "../index.ts";

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

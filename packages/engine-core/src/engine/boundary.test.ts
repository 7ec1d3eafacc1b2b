import type { AssembleResult, ContextEngine } from "@clew/plugin-sdk/core";
import { describe, expect, it } from "vitest";
import { passThrough, testHost } from "../__fixtures__/host.ts";

const SESSION = "agent:main:main";
const info = { id: "odd", name: "Odd" };

/** One turn on `engine`; how it went and what is remembered of the engine. */
async function sayWith(engine: ContextEngine | (() => ContextEngine)) {
  const host = testHost({ engine, replies: ["reply"] });
  const result = await host.say("hi");
  return { host, result, aside: host.registry.quarantine.list() };
}

async function expectFallback(engine: ContextEngine, operation: string, field: string) {
  const { host, result, aside } = await sayWith(engine);
  expect(result).toMatchObject({
    outcome: "completed",
    report: { engine: { degraded: { operation } } },
  });
  expect(host.lastSeen()).toEqual(["user: hi"]);
  expect(host.ports.transcript.entries).toHaveLength(2);
  expect(aside).toMatchObject([{ engineId: "test", operation }]);
  expect(aside[0]!.reason).toContain(field);
}

const cyclic: Record<string, unknown> = { role: "user", content: "x" };
cyclic.self = cyclic;

describe("a turn is answered, and the person's message is kept, whatever is in a result", () => {
  const wrong: [string, object, string][] = [
    ["a projection that is null", { contextProjection: null }, "contextProjection"],
    ["a number as an addition", { systemPromptAddition: 7 }, "systemPromptAddition"],
    ["a list as an addition", { systemPromptAddition: ["note"] }, "systemPromptAddition"],
    ["an authority nobody knows", { promptAuthority: "mine" }, "promptAuthority"],
    ["a text as an estimate", { estimatedTokens: "12" }, "estimatedTokens"],
    ["a message in a circle", { messages: [cyclic] }, "messages[0].self"],
    ["a bigint in a message", { messages: [{ ...cyclic, self: 1n }] }, "messages[0].self"],
    ["a hole among the messages", { messages: new Array(1) }, "messages[0] is a hole"],
    ["a message without content", { messages: [{ role: "user" }] }, "messages[0].content"],
    ["a role nobody knows", { messages: [{ role: "banana", content: "" }] }, "messages[0].role"],
  ];
  it.each(wrong)("%s", async (_, fields, field) => {
    const result = { messages: [], estimatedTokens: 0, ...fields } as AssembleResult;
    await expectFallback(passThrough({ info, assemble: () => result }), "assemble", field);
  });

  it("a getter that throws", async () => {
    const result = {
      messages: [],
      get estimatedTokens(): number {
        throw new Error("not counted");
      },
    };
    const engine = passThrough({ info, assemble: () => result });
    await expectFallback(engine, "assemble", "estimatedTokens could not be read: not counted");
  });

  it("and nothing that its owner changes in it later", async () => {
    const note = { role: "user" as const, content: [{ type: "text" as const, text: "note" }] };
    const result: AssembleResult = { messages: [note], estimatedTokens: 1 };
    const host = testHost({
      engine: passThrough({ info, assemble: () => result }),
      replies: [
        () => {
          note.content[0]!.text = "changed";
          result.messages.length = 0;
          return "reply";
        },
      ],
    });
    await host.say("hi");
    expect(host.lastSeen()).toEqual(["user: note", "user: hi"]);
  });
});

describe("info is read once for a turn, and one that is wrong is the engine's failure", () => {
  const wrong: [string, unknown, string][] = [
    ["undefined", undefined, "missing info"],
    ["a text", "odd", "missing info"],
    ["a requirement that is a text", { ...info, hostRequirements: "x" }, "info.hostRequirements"],
    ["a requirement that is null", { ...info, hostRequirements: null }, "info.hostRequirements"],
    [
      "capabilities that are a text",
      { ...info, hostRequirements: { "agent-run": { requiredCapabilities: "x" } } },
      "info.hostRequirements.agent-run.requiredCapabilities",
    ],
    ["accepted parameters that are null", { ...info, acceptedHostParams: null }, "info.accepted"],
    ["accepted parameters that are a text", { ...info, acceptedHostParams: "prompt" }, "accepted"],
    ["a version that is a number", { ...info, version: 7 }, "info.version"],
    ["another id than before", { ...info, id: "another" }, "info.id"],
  ];
  it.each(wrong)("%s, later", async (_, later, problem) => {
    let isLater = false;
    const engine = () => {
      const sound = passThrough();
      return Object.defineProperty(sound, "info", {
        get: () => (isLater ? later : info),
      });
    };
    const host = testHost({ engine, replies: ["one", "two"] });
    expect((await host.say("hi")).report.engine.degraded).toBeNull();
    isLater = true;
    const result = await host.say("again");
    expect(result).toMatchObject({
      outcome: "completed",
      report: { engine: { degraded: { operation: "info" } } },
    });
    expect(host.registry.quarantine.get("test")).toMatchObject({
      operation: "info",
      reason: expect.stringContaining(problem),
      scope: { kind: "everywhere" },
    });
  });

  it.each(wrong.slice(0, -1))("%s, from the start", async (_, from, problem) => {
    const engine = Object.defineProperty(passThrough(), "info", { get: () => from });
    const { result, aside } = await sayWith(engine);
    expect(result.outcome).toBe("completed");
    expect(aside).toMatchObject([{ operation: "contract-validation" }]);
    expect(aside[0]!.reason).toContain(problem);
  });

  it("a getter that throws later, or throws what cannot be described", async () => {
    let isLater = false;
    const circle: { cause?: unknown } = {};
    circle.cause = circle;
    const engine = Object.defineProperty(passThrough(), "info", {
      get() {
        if (isLater) throw circle;
        return info;
      },
    });
    const host = testHost({ engine });
    await host.say("hi");
    isLater = true;
    const result = await host.say("again");
    expect(result.outcome).toBe("completed");
    expect(result.report.engine).toMatchObject({ infoId: "legacy", ran: "test" });
    expect(host.registry.quarantine.list()).toMatchObject([{ operation: "info" }]);
  });

  it("in the middle of a turn it stays as it was at the start", async () => {
    let ownsCompaction = false;
    const seen: unknown[] = [];
    const engine = Object.defineProperty(
      passThrough({
        assemble: ({ messages }) => {
          ownsCompaction = true;
          return { messages, estimatedTokens: 0 };
        },
      }),
      "info",
      { get: () => ({ ...info, ownsCompaction }) },
    );
    const host = testHost({ engine });
    seen.push((await host.say("one")).report.engine.ownsCompaction);
    seen.push((await host.say("two")).report.engine.ownsCompaction);
    expect(seen).toEqual([false, true]);
    expect(host.registry.quarantine.list()).toEqual([]);
  });
});

describe("an engine object of any kind is called", () => {
  class Private implements ContextEngine {
    #calls = 0;
    get info() {
      return { id: `private-${this.#calls > 0 ? "" : ""}`, name: "Private" };
    }
    ingest() {
      return { ingested: this.#calls > 0 };
    }
    assemble({ messages }: { messages: AssembleResult["messages"] }) {
      this.#calls++;
      const note = { role: "user" as const, content: "seen by the engine" };
      return { messages: [note, ...messages], estimatedTokens: 0 };
    }
    compact() {
      return { ok: true, compacted: false };
    }
  }
  const plain = () =>
    passThrough({
      info,
      assemble: ({ messages }) => ({
        messages: [{ role: "user", content: "seen by the engine" }, ...messages],
        estimatedTokens: 0,
      }),
    });
  const kinds: [string, () => ContextEngine][] = [
    ["frozen", () => Object.freeze(plain())],
    ["sealed", () => Object.seal(plain())],
    ["of a class with private fields", () => new Private()],
    ["frozen, of a class", () => Object.freeze(new Private())],
    ["without a prototype", () => Object.assign(Object.create(null) as object, plain())],
    ["a proxy", () => new Proxy(plain(), {})],
    ["a proxy of a frozen object", () => new Proxy(Object.freeze(plain()), {})],
    [
      "with optional methods that are undefined",
      () => ({ ...plain(), afterTurn: undefined as never }),
    ],
  ];
  it.each(kinds)("%s", async (_, make) => {
    const { host, result, aside } = await sayWith(make());
    expect(result.report.engine.degraded).toBeNull();
    expect(host.lastSeen()).toEqual(["user: seen by the engine", "user: hi"]);
    expect(result.report.engineCalls.map(({ outcome }) => outcome)).toEqual(["ok", "ok", "ok"]);
    expect(aside).toEqual([]);
  });

  it("and one whose method cannot be read any more is set aside", async () => {
    let isLater = false;
    const engine = Object.defineProperty(passThrough({ info }), "afterTurn", {
      get() {
        if (isLater) throw new Error("closed");
        return undefined;
      },
    });
    const host = testHost({ engine });
    await host.say("one");
    isLater = true;
    expect((await host.say("two")).outcome).toBe("completed");
    expect(host.registry.quarantine.get("test")).toMatchObject({
      operation: "contract-validation",
      reason: "afterTurn() could not be read: closed",
    });
  });
});

describe("whatever an engine throws, it is set aside and described", () => {
  const revoked = () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    return proxy;
  };
  const thrown: [string, () => unknown][] = [
    ["undefined", () => undefined],
    ["a circle", () => cyclic],
    ["a bigint", () => 1n],
    ["a symbol", () => Symbol("s")],
    ["an error whose message is no text", () => Object.assign(new Error(), { message: cyclic })],
    ["a revoked proxy", revoked],
  ];
  it.each(thrown)("%s", async (_, make) => {
    const engine = passThrough({
      info,
      assemble: () => {
        throw make();
      },
    });
    const { result, aside } = await sayWith(engine);
    expect(result.outcome).toBe("completed");
    expect(aside).toMatchObject([
      { operation: "assemble", scope: { kind: "session", sessionKey: SESSION } },
    ]);
    expect(aside[0]!.reason).not.toBe("");
  });
});

describe("strict engines of the documented parameters run every method", () => {
  it("without being set aside", async () => {
    const allowed: Record<string, readonly string[]> = {
      assemble: [
        "sessionId",
        "messages",
        "tokenBudget",
        "availableTools",
        "citationsMode",
        "model",
      ],
      compact: [
        ...["sessionId", "sessionFile", "tokenBudget", "force", "currentTokenCount"],
        ...["compactionTarget", "customInstructions"],
      ],
      afterTurn: [
        ...["sessionId", "sessionFile", "messages", "prePromptMessageCount"],
        ...["isHeartbeat", "tokenBudget"],
      ],
    };
    const check = (method: string, params: object) => {
      const errors = Object.keys(params)
        .filter((key) => !allowed[method]!.includes(key))
        .map((additionalProperty) => ({
          keyword: "additionalProperties",
          instancePath: "",
          params: { additionalProperty },
        }));
      if (errors.length > 0) throw Object.assign(new Error("validation failed"), { errors });
    };
    const calls: string[] = [];
    const engine = passThrough({
      info,
      assemble: (params) => {
        check("assemble", params);
        const isSmaller = calls.includes("compact");
        calls.push("assemble");
        return { messages: params.messages.slice(isSmaller ? 1 : 0), estimatedTokens: 0 };
      },
      afterTurn: (params) => {
        check("afterTurn", params);
        calls.push("afterTurn");
      },
      compact: (params) => {
        check("compact", params);
        calls.push("compact");
        return { ok: true, compacted: true };
      },
    });
    const overflow = { error: { kind: "overflow" as const, message: "too long" } };
    const host = testHost({ engine, replies: ["one", overflow, "two"] });
    await host.say("hi");
    expect((await host.say("again")).outcome).toBe("completed");
    expect(calls).toEqual([
      ...["assemble", "afterTurn"],
      ...["assemble", "compact", "assemble", "afterTurn"],
    ]);
    expect(host.registry.quarantine.list()).toEqual([]);
  });
});

// Hostile engines by name: the reply comes, the record says who failed, other sessions go on.
import {
  type AgentMessage,
  type CompactParams,
  delegateCompactionToRuntime,
} from "@clew/plugin-sdk/core";
import { describe, expect, it } from "vitest";
import {
  assembling,
  block,
  cyclic,
  durableEngineWith,
  engineWith,
  NEVER,
  result,
  revoked,
  user,
} from "./__fixtures__/hostile-parts.ts";
import {
  BOUND_MS,
  type Ordeal,
  ordeal,
  ordealFaults,
  recordedOperations,
  sensibleEngine,
} from "./__fixtures__/ordeal.ts";

const no = (): never => {
  throw new Error("no");
};

function expectAnswered(done: Ordeal, operation?: string): void {
  expect(ordealFaults(done).join("\n")).toBe("");
  if (operation !== undefined) expect(recordedOperations(done)).toContain(operation);
}

const HUGE = "x".repeat(40_000_000);

function sparse(messages: AgentMessage[]): AgentMessage[] {
  const list = messages.slice();
  list.length += 3;
  return list;
}

describe("a view that is not what the contract says is on record, and the fallback answers", () => {
  it.each<[string, (messages: AgentMessage[]) => unknown]>([
    ["never comes", () => NEVER],
    // biome-ignore lint/suspicious/noThenProperty: an engine may return one
    ["is a promise that never calls back", () => ({ then() {} })],
    // biome-ignore lint/suspicious/noThenProperty: an engine may return one
    ["is a promise whose then throws", () => Object.defineProperty({}, "then", { get: no })],
    ["is undefined", () => undefined],
    ["is text", () => "messages"],
    ["is a revoked proxy", () => revoked()],
    ["has no messages", () => result(undefined)],
    ["has messages that are no list", () => result({ 0: user("x"), length: 1 })],
    [
      "has messages behind a getter that throws",
      () => Object.defineProperty({}, "messages", { get: no }),
    ],
    ["has holes", (messages) => result(sparse(messages))],
    ["has null for a message", (messages) => result([null, ...messages])],
    ["has a message in a circle", (messages) => result([cyclic(), ...messages])],
    [
      "has a message with a BigInt",
      (messages) => result([{ ...user("x"), timestamp: 5n }, ...messages]),
    ],
    [
      "has a message with a function",
      (messages) => result([{ role: "user", content: no }, ...messages]),
    ],
    [
      "has a message of a role nobody knows",
      (messages) => result([{ role: "banana", content: "x" }, ...messages]),
    ],
    ["has a message without content", (messages) => result([{ role: "user" }, ...messages])],
    ["has an estimate that is text", (messages) => result(messages, { estimatedTokens: "many" })],
    ["has an authority nobody knows", (messages) => result(messages, { promptAuthority: "mine" })],
    [
      "has a number for a prompt addition",
      (messages) => result(messages, { systemPromptAddition: 7 }),
    ],
    [
      "has a list for a prompt addition",
      (messages) => result(messages, { systemPromptAddition: ["a"] }),
    ],
    ["has null for a projection", (messages) => result(messages, { contextProjection: null })],
    ["has a projection without a mode", (messages) => result(messages, { contextProjection: {} })],
    ["has 40 MB", (messages) => result([user(HUGE), ...messages])],
  ])("it %s", async (_name, assemble) => {
    expectAnswered(await ordeal(() => assembling(assemble)), "assemble");
  });

  it.each<[string, (messages: AgentMessage[]) => AgentMessage[]]>([
    ["nothing at all", () => []],
    ["the oldest message only", (messages) => messages.slice(0, 1)],
    ["no tool results", (messages) => messages.filter(({ role }) => role !== "toolResult")],
    [
      "results without their calls",
      (messages) => messages.filter(({ role }) => role !== "assistant"),
    ],
  ])("it holds %s", async (_name, choose) => {
    const done = await ordeal(() => assembling((messages) => result(choose(messages))));
    expectAnswered(done);
    const told = done.results.map(({ report }) => report.views?.fallbacks ?? 0);
    expect(told.some((fallbacks) => fallbacks > 0)).toBe(true);
  });
});

describe("whatever is thrown is on record, and the fallback answers", () => {
  it.each<[string, () => unknown]>([
    ["undefined", () => undefined],
    ["a BigInt", () => 10n],
    ["a symbol", () => Symbol("no")],
    ["an object in a circle", cyclic],
    ["a revoked proxy", revoked],
    [
      "an error whose message is no text",
      () => Object.assign(new Error(), { message: { a: 10n } }),
    ],
    [
      "an error whose message cannot be read",
      () => Object.defineProperty(new Error(), "message", { get: no }),
    ],
    [
      "an error that is its own cause",
      () => {
        const error = new Error("x");
        error.cause = error;
        return error;
      },
    ],
    ["an abort nobody asked for", () => new DOMException("mine", "AbortError")],
  ])("%s", async (_name, make) => {
    const done = await ordeal(() =>
      assembling(() => {
        throw make();
      }),
    );
    expectAnswered(done, "assemble");
  });
});

describe("an abort that nobody asked for is a failure like any other", () => {
  it.each(["bootstrap", "maintain", "afterTurn", "assemble", "compact"])(
    "in %s",
    async (method) => {
      const abort = () => {
        throw new DOMException("mine", "AbortError");
      };
      expectAnswered(await ordeal(() => engineWith({ [method]: abort })), method);
    },
  );
});

describe("every method that does not answer as it must is on record by its name", () => {
  const never = () => NEVER;
  it.each<[string, string, Record<string, unknown>]>([
    ["bootstrap", "never", { bootstrap: never }],
    ["maintain", "never", { maintain: never }],
    ["afterTurn", "never", { afterTurn: never }],
    ["ingestBatch", "never", { afterTurn: undefined, ingestBatch: never }],
    ["ingest", "never", { afterTurn: undefined, ingest: never }],
    ["compact", "never", { compact: never }],
    ["bootstrap", "wrongly", { bootstrap: () => ({ bootstrapped: 1 }) }],
    [
      "maintain",
      "wrongly",
      { maintain: () => ({ changed: "yes", bytesFreed: 0, rewrittenEntries: 0 }) },
    ],
    [
      "ingestBatch",
      "wrongly",
      { afterTurn: undefined, ingestBatch: () => ({ ingestedCount: "2" }) },
    ],
    ["ingest", "wrongly", { afterTurn: undefined, ingest: () => ({ ingested: "yes" }) }],
    ["compact", "wrongly", { compact: () => ({ ok: 1, compacted: true }) }],
    [
      "compact",
      "wrongly inside",
      { compact: () => ({ ok: true, compacted: true, result: { tokensBefore: "9" } }) },
    ],
  ])("%s answers %s", async (operation, _how, overrides) => {
    expectAnswered(await ordeal(() => engineWith(overrides)), operation);
  });

  it.each<[string, Partial<Record<string, unknown>>]>([
    ["wrongly", { ok: 1, compacted: true }],
    ["that it failed", { ok: false, compacted: false }],
    ["that nothing was done", { ok: true, compacted: false }],
  ])(
    "a compaction that the host did in its place, and of which it says %s",
    async (_how, answer) => {
      const compact = async (params: CompactParams) => {
        await delegateCompactionToRuntime(params);
        return answer;
      };
      expectAnswered(await ordeal(() => engineWith({ compact })));
    },
  );

  it.each<[string, () => unknown]>([
    ["never", never],
    ["with a status nobody knows", () => ({ status: "maybe" })],
    ["with nothing", () => undefined],
  ])("commitTurn answers %s", async (_how, commitTurn) => {
    expectAnswered(await ordeal(() => durableEngineWith({ commitTurn })), "commitTurn");
  });

  it.each<[string, () => never | Promise<never>]>([
    ["never settles", never],
    [
      "throws what cannot be described",
      () => {
        throw revoked();
      },
    ],
    ["rejects with undefined", () => Promise.reject()],
  ])("a factory that %s", async (_how, factory) => {
    expectAnswered(await ordeal(factory), "factory");
  });

  it.each(["assemble", "ingest", "compact"])("a getter of %s that throws", async (method) => {
    const done = await ordeal(() => Object.defineProperty(sensibleEngine(), method, { get: no }));
    expectAnswered(done);
    expect(recordedOperations(done)).not.toEqual([]);
  });

  it("a loop that blocks the process for longer than the bound delays the reply, no more", async () => {
    const slow = assembling((messages) => {
      block(2 * BOUND_MS);
      return result(messages);
    });
    expectAnswered(await ordeal(() => slow));
  });
});

describe("what an engine says about itself is read once and believed only when it is right", () => {
  it.each([1, 2, 3, 5, 8, 13, 21])("an info that throws from its read %d on", async (read) => {
    let reads = 0;
    const { info } = sensibleEngine();
    const get = () => (++reads >= read ? no() : info);
    const done = await ordeal(() => Object.defineProperty(sensibleEngine(), "info", { get }));
    expectAnswered(done);
    if (reads >= read) expect(recordedOperations(done)).not.toEqual([]);
  });

  it.each([
    ["id", 7],
    ["name", " "],
    ["hostRequirements", { "agent-run": { requiredCapabilities: "x" } }],
    ["hostRequirements", 7],
    ["acceptedHostParams", null],
    ["acceptedHostParams", "prompt"],
    ["transcriptSemantics", "all"],
  ])("an info whose %s is %j", async (key, value) => {
    const info = { ...sensibleEngine().info, [key]: value };
    const done = await ordeal(() => engineWith({ info }));
    expectAnswered(done);
    expect(recordedOperations(done)).not.toEqual([]);
  });
});

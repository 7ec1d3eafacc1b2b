// Engines that are unusual and right answer by themselves, whatever they do to their input.
import type { AgentMessage, ContextEngine } from "@clew/plugin-sdk/core";
import { sleep } from "@clew/plugin-sdk/host";
import { describe, expect, it } from "vitest";
import { engineWith, type Lent, result, user } from "./__fixtures__/hostile-parts.ts";
import {
  BOUND_MS,
  ordeal,
  ordealFaults,
  recordedOperations,
  sensibleEngine,
} from "./__fixtures__/ordeal.ts";

class PrivateFields {
  #calls = 0;
  get info() {
    return { id: "hostile", name: "Hostile", version: `1.0.${this.#calls * 0}` };
  }
  ingest() {
    this.#calls++;
    return { ingested: true };
  }
  assemble({ messages }: { messages: AgentMessage[] }) {
    this.#calls++;
    return { messages, estimatedTokens: 0 };
  }
  compact = sensibleEngine().compact;
}

class List<Item> extends Array<Item> {}

function deepFrozen<Value>(value: Value): Value {
  if (typeof value === "object" && value !== null)
    for (const inner of Object.values(Object.freeze(value))) deepFrozen(inner);
  return value;
}

function withHiddenMethods(engine: ContextEngine): ContextEngine {
  const made = {} as ContextEngine;
  for (const [key, value] of Object.entries(engine))
    Object.defineProperty(made, key, { value, enumerable: false });
  return made;
}

/** Counts calls of `assemble`, to show that the engine itself answered. */
function counted(engine: ContextEngine) {
  const count = { calls: 0 };
  const assemble: ContextEngine["assemble"] = (params) => {
    count.calls++;
    return engine.assemble(params);
  };
  return { count, engine: { ...engine, assemble } };
}

describe("an engine that is unusual and right answers by itself", () => {
  it.each<[string, (engine: ContextEngine) => ContextEngine]>([
    ["a frozen object", Object.freeze],
    ["a sealed object", Object.seal],
    ["an object without a prototype", (engine) => Object.assign(Object.create(null), engine)],
    ["a proxy", (engine) => new Proxy(engine, {})],
    ["an object with hidden methods", withHiddenMethods],
  ])("%s", async (_name, shape) => {
    const { engine, count } = counted(sensibleEngine());
    const done = await ordeal(() => shape(engine));
    expect(ordealFaults(done).join("\n")).toBe("");
    expect(recordedOperations(done)).toEqual([]);
    expect(count.calls).toBeGreaterThan(1);
  });

  it("a class with private fields and an info getter", async () => {
    const done = await ordeal(() => new PrivateFields());
    expect(ordealFaults(done).join("\n")).toBe("");
    expect(recordedOperations(done)).toEqual([]);
  });

  it.each<[string, (messages: AgentMessage[]) => unknown]>([
    ["frozen to the bottom", (messages) => deepFrozen(result(messages.slice()))],
    ["a list of its own kind", (messages) => result(List.from(messages))],
    [
      "one with fields nobody knows",
      (messages) => result(messages, { cost: 7n, when: new Date(0) }),
    ],
    ["a promise of a promise", async (messages) => Promise.resolve(result(messages))],
    ["without a prototype", (messages) => Object.assign(Object.create(null), result(messages))],
  ])("one whose view is %s", async (_name, assemble) => {
    const done = await ordeal(() =>
      engineWith({ assemble: ({ messages }: Lent) => assemble(messages) }),
    );
    expect(ordealFaults(done).join("\n")).toBe("");
    expect(recordedOperations(done)).toEqual([]);
  });

  it.each<[string, (message: AgentMessage) => void]>([
    ["content", (message) => void Object.assign(message, { content: "MUTATED" })],
    [
      "blocks",
      (message) => {
        if ("content" in message && Array.isArray(message.content)) message.content.length = 0;
      },
    ],
    ["ids", (message) => void Object.assign(message, { __openclaw: { id: "mine" } })],
  ])("one that changes the %s of what it is given, in place", async (_what, change) => {
    let calls = 0;
    const mutate = (messages: AgentMessage[]) => {
      const returned = structuredClone(messages);
      messages.forEach(change);
      messages.reverse().push(user("pushed"));
      calls++;
      return returned;
    };
    const done = await ordeal(() =>
      engineWith({
        assemble: ({ messages }: Lent) => result(mutate(messages)),
        afterTurn: ({ messages }: Lent) => void mutate(messages),
      }),
    );
    expect(ordealFaults(done).join("\n")).toBe("");
    expect(recordedOperations(done)).toEqual([]);
    expect(calls).toBeGreaterThan(2);
  });

  it("one that leaves a compaction to the host, which takes long and says how it goes", async () => {
    let compactions = 0;
    const done = await ordeal(() => sensibleEngine(), {
      lends: {
        async compacting(onProgress) {
          compactions++;
          for (let part = 0; part < 10; part++) {
            await sleep(BOUND_MS / 5);
            onProgress();
          }
        },
      },
    });
    expect(ordealFaults(done).join("\n")).toBe("");
    expect(recordedOperations(done)).toEqual([]);
    expect(compactions).toBeGreaterThan(0);
  });
});

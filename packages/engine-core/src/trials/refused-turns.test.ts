// A turn that an engine refuses is parked after three attempts.
import { type AgentMessage, type ContextEngine, messageId } from "@clew/plugin-sdk/core";
import { describe, expect, it } from "vitest";
import { memoryTranscript, testHost } from "../__fixtures__/host.ts";
import { createDeliveryLedger, type FailurePolicy, retrySession } from "../index.ts";
import { eventOf, messageEntries } from "./__fixtures__/disk.ts";
import { durableEngineWith, engineWith, type Lent } from "./__fixtures__/hostile-parts.ts";

interface Poisonable {
  make(version: string): ContextEngine;
  /** Turns it took, by their prompts. */
  taken: string[];
  isPoisoned: boolean;
}

/** Refuses the turn of "q1" as long as it is poisoned. */
function poisonable(isDurable: boolean): Poisonable {
  const take = (messages: readonly AgentMessage[]) => {
    const prompt = messages.map(eventOf).find((event) => event.startsWith("q")) ?? "none";
    if (engine.isPoisoned && prompt === "q1") throw new Error("q1 is poison");
    engine.taken.push(prompt);
  };
  const engine: Poisonable = {
    taken: [],
    isPoisoned: true,
    make: (version) => {
      const made = isDurable
        ? durableEngineWith({
            commitTurn({ messages }: Lent) {
              take(messages);
              return { status: "committed" };
            },
          })
        : engineWith({
            afterTurn: ({
              messages,
              prePromptMessageCount,
            }: Lent & { prePromptMessageCount: number }) =>
              take(messages.slice(prePromptMessageCount)),
          });
      return { ...made, info: { ...made.info, ownsCompaction: false, version } };
    },
  };
  return engine;
}

function openHost(engine: Poisonable, failurePolicy: FailurePolicy = "retry-next-turn") {
  const deliveries = createDeliveryLedger();
  const host = testHost({
    engine: engine.make("1"),
    transcript: Object.assign(memoryTranscript(), { deliveries }),
    replies: ["r"],
    registry: { failurePolicy: () => failurePolicy },
  });
  let turn = 0;
  return {
    host,
    deliveries,
    async say(turns: number) {
      for (let left = turns; left > 0; left--) await host.say(`q${turn++} please`);
    },
    /** Who answers the next message, and what the person is told beside. */
    async answered() {
      const notices: string[] = [];
      const { report } = await host.say(`q${turn++} please`, {
        onEvent: (event) => event.type === "notice" && notices.push(event.text),
      });
      return { by: report.engine.ran, notices };
    },
    retry: () =>
      retrySession({
        transcript: host.ports.transcript,
        state: host.state,
        quarantine: host.registry.quarantine,
      }),
    poisonedId: () =>
      messageEntries(host.ports.transcript.entries)
        .filter(({ message }) => eventOf(message) === "q1")
        .map(({ message }) => messageId(message) ?? "")[0]!,
  };
}

describe.each([
  ["a durable engine", true],
  ["an eager engine", false],
])("%s that refuses one turn", (_name, isDurable) => {
  it("is offered it three times, and is given all the others", async () => {
    const engine = poisonable(isDurable);
    const { say, deliveries, poisonedId } = openHost(engine);
    await say(8);
    expect(engine.taken).toEqual(["q0", "q2", "q3", "q4", "q5", "q6", "q7"]);
    expect(deliveries.read("test")?.refused.get(poisonedId())).toMatchObject({
      attempts: 3,
      reason: expect.stringContaining("q1 is poison"),
    });
  });

  it("is offered it again in the next turn when somebody asks for it", async () => {
    const engine = poisonable(isDurable);
    const { say, deliveries, poisonedId } = openHost(engine);
    await say(6);
    engine.isPoisoned = false;
    await deliveries.save("test", { kind: "retry", turnId: poisonedId() });
    await say(1);
    expect([...engine.taken].sort()).toEqual(["q0", "q1", "q2", "q3", "q4", "q5", "q6"]);
    expect(deliveries.read("test")?.refused.size).toBe(0);
  });

  it("answers again once the turn is parked, and is offered it once at each request", async () => {
    const engine = poisonable(isDurable);
    const { say, retry, answered, deliveries, poisonedId } = openHost(engine, "quarantine");
    await say(2);
    // Each failure sets it aside for the session, until somebody asks for another attempt.
    for (const _ of [1, 2]) {
      await retry();
      await say(1);
    }
    expect(await answered()).toEqual({ by: "test", notices: [] });
    const { turns } = await retry();
    expect(turns).toEqual([{ engineId: "test", turnId: poisonedId() }]);
    const { notices } = await answered();
    expect(notices.join()).toMatch(/refused one turn 3 times: it goes on without that turn/);
    expect(await answered()).toEqual({ by: "test", notices: [] });
    expect(deliveries.read("test")?.refused.get(poisonedId())?.attempts).toBe(3);
    expect(engine.taken).toContain("q2");
    expect(engine.taken).not.toContain("q1");
  });

  it("is offered it again in its next version", async () => {
    const engine = poisonable(isDurable);
    const { say, host } = openHost(engine);
    await say(6);
    engine.isPoisoned = false;
    host.registry.register({
      engineId: "test",
      owner: "plugin:test",
      allowSameOwnerRefresh: true,
      factory: () => engine.make("2"),
    });
    await say(1);
    expect([...engine.taken].sort()).toEqual(["q0", "q1", "q2", "q3", "q4", "q5", "q6"]);
  });
});

import type { AgentMessage, ContextEngine } from "@clew/plugin-sdk/core";
import { textOf } from "@clew/plugin-sdk/transcript";
import { describe, expect, it } from "vitest";
import { passThrough, testHost } from "../__fixtures__/host.ts";
import { deliveryStatus, retrySession } from "../index.ts";

/** Takes every turn but those with a message of this text, while `isPicky`. */
function pickyEngine(poison: string) {
  const taken: string[] = [];
  const settings = { isPicky: true };
  const engine: ContextEngine = passThrough({
    info: { id: "test", name: "Test" },
    afterTurn: async ({ messages, prePromptMessageCount }) => {
      const texts = messages.slice(prePromptMessageCount).map((each: AgentMessage) => textOf(each));
      if (settings.isPicky && texts.includes(poison)) throw new Error("indigestible");
      taken.push(...texts);
    },
  });
  return { engine, taken, settings };
}

describe("another chance in one session", () => {
  it("offers the turns again that were refused too often, and shows them until then", async () => {
    const { engine, taken, settings } = pickyEngine("poison");
    const { say, state, ports } = testHost({
      engine,
      registry: { failurePolicy: () => "retry-next-turn" },
    });
    const { transcript } = ports;
    await say("poison");
    const status = () => deliveryStatus(transcript.branch(), state.deliveries.read("test"));
    expect(status()).toEqual({ pending: 1, blocked: [] });
    for (const text of ["one", "two"]) await say(text);
    const turnId = transcript.branch()[0]!.id;
    expect(status()).toEqual({
      pending: 2,
      blocked: [{ turnId, attempts: 3, reason: "indigestible" }],
    });
    settings.isPicky = false;
    await say("three");
    expect(taken).not.toContain("poison");

    expect(await retrySession({ transcript, state })).toEqual({
      turns: [{ engineId: "test", turnId }],
      engines: [],
    });
    await say("four");
    expect(taken.filter((text) => text === "poison")).toHaveLength(1);
    expect(status()).toEqual({ pending: 0, blocked: [] });
    expect(await retrySession({ transcript, state })).toEqual({ turns: [], engines: [] });
  });

  it("lets an engine answer again that was set aside for the session", async () => {
    const { engine, taken, settings } = pickyEngine("poison");
    const { say, state, ports, registry } = testHost({ engine });
    const { transcript } = ports;
    const { quarantine } = registry;
    await say("poison");
    expect((await say("one")).report.engine.ran).toBe("legacy");
    settings.isPicky = false;
    expect(await retrySession({ transcript, state, quarantine })).toEqual({
      turns: [],
      engines: ["test"],
    });
    expect((await say("two")).report.engine.ran).toBe("test");
    expect(taken).toEqual(["poison", "ok", "one", "ok", "two", "ok"]);
  });

  it("forgets the choices of an engine that could not be used", async () => {
    let isEmpty = true;
    const engine = passThrough({
      info: { id: "test", name: "Test" },
      assemble: ({ messages }) => ({ messages: isEmpty ? [] : messages, estimatedTokens: 0 }),
    });
    const { say, state, ports, registry } = testHost({ engine });
    const bad = async () => (await say("again")).report.engine.ran;
    isEmpty = false;
    await say("first");
    isEmpty = true;
    await bad();
    await bad();
    await retrySession({ transcript: ports.transcript, state, quarantine: registry.quarantine });
    await bad();
    expect(registry.quarantine.list()).toEqual([]);
    await bad();
    await bad();
    expect(registry.quarantine.list()).toHaveLength(1);
  });
});

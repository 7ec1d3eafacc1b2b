import type { AfterTurnParams, AgentMessage, ContextEngine } from "@clew/plugin-sdk/core";
import type { EngineMethod } from "@clew/plugin-sdk/host";
import { describe, expect, it } from "vitest";
import { passThrough, testHost } from "../__fixtures__/host.ts";

type Fault = "throws" | "rejects" | "hangs" | "wrong shape" | "fails after partial work";

/**
 * An engine that is sound but for one method, which fails in one way; it keeps what it was given.
 */
function faulty(method: EngineMethod, fault: Fault) {
  const ingested: AgentMessage[] = [];
  const sound: ContextEngine = {
    info: { id: "faulty", name: "Faulty" },
    bootstrap: () => ({ bootstrapped: true }),
    maintain: () => ({ changed: false, bytesFreed: 0, rewrittenEntries: 0 }),
    ingest: ({ message }) => ({ ingested: ingested.push(message) > 0 }),
    ...(method === "ingestBatch" && {
      ingestBatch: ({ messages }) => ({ ingestedCount: ingested.push(...messages) }),
    }),
    ...(method === "afterTurn" && {
      afterTurn: ({ messages, prePromptMessageCount }: AfterTurnParams) =>
        void ingested.push(...messages.slice(prePromptMessageCount)),
    }),
    assemble: ({ messages }) => ({ messages, estimatedTokens: 0 }),
    compact: () => ({ ok: true, compacted: false }),
  };
  const broken = (params: never) => {
    switch (fault) {
      case "throws":
        throw new Error("broken");
      case "rejects":
        return Promise.reject(new Error("broken"));
      case "hangs":
        return new Promise(() => {});
      case "wrong shape":
        return 42;
      case "fails after partial work":
        (sound[method] as (params: never) => unknown)(params);
        throw new Error("broken half way");
    }
  };
  return { engine: { ...sound, [method]: broken } as ContextEngine, ingested };
}

const methods = [
  "bootstrap",
  "maintain",
  "ingest",
  "ingestBatch",
  "afterTurn",
  "assemble",
] as const;
const faults: Fault[] = ["throws", "rejects", "hangs", "wrong shape", "fails after partial work"];
const tolerated = (method: EngineMethod, fault: Fault) =>
  fault === "wrong shape" && method === "afterTurn";

describe("whatever an engine does, the reply comes and the record is whole", () => {
  it.each(methods.flatMap((method) => faults.map((fault) => ({ method, fault }))))(
    "$method $fault",
    async ({ method, fault }) => {
      const { engine, ingested } = faulty(method, fault);
      const bounds = { [method]: 15 };
      const host = testHost({
        engine,
        replies: ["one", "two"],
        registry: { bounds: () => bounds },
      });
      const first = await host.say("first");
      const second = await host.say("second");
      expect([first.outcome, second.outcome]).toEqual(["completed", "completed"]);
      expect(host.lastSeen()).toEqual(["user: first", "assistant: one", "user: second"]);
      expect(new Set(ingested).size).toBe(ingested.length);
      if (tolerated(method, fault)) return;
      expect(host.registry.quarantine.get("test", "agent:main:main")).toMatchObject({
        engineId: "test",
        operation: method,
      });
      const calls = [...first.report.engineCalls, ...second.report.engineCalls];
      expect(calls.find((call) => call.method === method)).toMatchObject({
        outcome: fault === "hangs" ? "timeout" : "failed",
      });
      expect(second.report.engine.degraded).toMatchObject({ operation: method });
    },
  );

  it.each([
    ["assemble", ["legacy"]],
    ["afterTurn", [undefined]],
  ] as const)(
    "a call names the engine that chose what was sent, when %s fails",
    async (method, engines) => {
      const host = testHost({ engine: faulty(method, "throws").engine });
      const { report } = await host.say("hi");
      expect(report.engine).toMatchObject({ ran: "test", degraded: { operation: method } });
      expect(report.modelCalls.map(({ engine }) => engine)).toEqual(engines);
    },
  );

  it.each(["bootstrap", "assemble", "afterTurn", "maintain"] as const)(
    "an abort during %s ends the turn and blames nobody",
    async (method) => {
      const abort = new AbortController();
      const { engine } = faulty(method, "hangs");
      const waiting = {
        ...engine,
        [method]: () => {
          abort.abort();
          return new Promise(() => {});
        },
      } as ContextEngine;
      const host = testHost({ engine: waiting });
      if (method === "bootstrap")
        await host.ports.transcript.append([
          { type: "message", message: { role: "user", content: "old" } },
        ]);
      const result = await host.say("hi", { signal: abort.signal });
      expect(result.outcome).toBe(
        method === "afterTurn" || method === "maintain" ? "completed" : "aborted",
      );
      expect(host.registry.quarantine.list()).toEqual([]);
    },
  );

  it("an engine cannot change the history it is given", async () => {
    const engine = passThrough({
      info: { id: "vandal", name: "Vandal" },
      assemble: ({ messages }) => {
        messages.length = 0;
        return { messages: [], estimatedTokens: 0 };
      },
    });
    const host = testHost({ engine, replies: ["one", "two"] });
    await host.say("first");
    await host.say("second");
    expect(host.ports.transcript.branch()).toHaveLength(4);
  });
});

import { AsyncLocalStorage } from "node:async_hooks";
import { setTimeout } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { memoryLog, passThrough } from "../__fixtures__/host.ts";
import { createEngineRegistry } from "../index.ts";

const clock = { now: () => 42, monotonic: () => 0 };

describe("code of an engine", () => {
  it("runs for its owner from the factory to dispose, however late, and no other code does", async () => {
    const running = new AsyncLocalStorage<string>();
    const seen: (string | undefined)[] = [];
    const see = () => void seen.push(running.getStore());
    const registry = createEngineRegistry({
      ...{ log: memoryLog(), clock },
      fallback: () => passThrough(),
      callAs: (owner, call) => (owner === "core" ? call() : running.run(owner, call)),
    });
    const assembled = Promise.withResolvers<void>();
    const factory = async () => {
      await setTimeout(1);
      see();
      const engine = passThrough({
        assemble: async ({ messages }) => {
          setTimeout(1).then(see).then(assembled.resolve, assembled.reject);
          return { messages, estimatedTokens: 0 };
        },
        dispose: async () => see(),
      });
      return Object.assign(engine, { control: see });
    };
    registry.register({ engineId: "notes", owner: "plugin:notes", factory });
    const guard = await registry.instance("notes", {});
    const engine = guard.enter({});
    await engine.assemble({ sessionId: "s", messages: [], tokenBudget: 10 });
    expect(running.getStore()).toBeUndefined();
    await assembled.promise;
    guard.extension("control")?.();
    engine.release();
    await registry.dispose();
    expect(seen).toEqual(Array(4).fill("plugin:notes"));
  });
});

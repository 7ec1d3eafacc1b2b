import type { ContextEngine, ContextEngineFactory } from "@clew/plugin-sdk/core";
import { sleep } from "@clew/plugin-sdk/host";
import { describe, expect, it } from "vitest";
import { memoryLog, passThrough, testHost } from "../__fixtures__/host.ts";
import { createEngineRegistry, type RegistryOptions } from "./registry.ts";
import { resolveContextEngine } from "./resolve.ts";

const clock = { now: () => 42, monotonic: () => 0 };
const config = { plugins: { slots: { contextEngine: "a" } } };
const never = new Promise<never>(() => {});

function make(factory: ContextEngineFactory, options: Partial<RegistryOptions> = {}) {
  const log = memoryLog();
  const registry = createEngineRegistry({ fallback: () => passThrough(), log, clock, ...options });
  const register = (next: ContextEngineFactory) =>
    registry.register({
      ...{ engineId: "a", owner: "plugin:a", factory: next, allowSameOwnerRefresh: true },
    });
  register(factory);
  return { registry, register, log, resolve: () => resolveContextEngine({ registry, config }) };
}

/** Engines that say by name which was disposed. */
function versions() {
  const disposed: string[] = [];
  const version = (name: string, overrides: Partial<ContextEngine> = {}) =>
    passThrough({
      info: { id: "own", name },
      dispose: () => void disposed.push(name),
      ...overrides,
    });
  return { disposed, version };
}

describe("a factory", () => {
  it("that never settles is given up at its bound, and not asked again until it is registered anew", async () => {
    let asked = 0;
    const { registry, register, resolve } = make(
      () => {
        asked++;
        return never;
      },
      { bounds: () => ({ factory: 20 }) },
    );
    const first = await resolve();
    expect(first).toMatchObject({
      degraded: { operation: "factory", code: "ENGINE_TIMEOUT" },
      guard: { engineId: "legacy" },
    });
    await resolve();
    expect(asked).toBe(1);
    expect(registry.quarantine.list()).toMatchObject([{ scope: { kind: "everywhere" } }]);
    register(() => passThrough({ info: { id: "own", name: "Mended" } }));
    expect((await resolve()).guard.info().name).toBe("Mended");
  });

  it("that is late has its product disposed", async () => {
    const { disposed, version } = versions();
    const { resolve } = make(() => sleep(40).then(() => version("late")), {
      bounds: () => ({ factory: 10 }),
    });
    await resolve();
    expect(disposed).toEqual([]);
    await expect.poll(() => disposed).toEqual(["late"]);
  });

  it("is not waited for by a caller who has gone, and blames nobody", async () => {
    const { registry } = make(() => never);
    const abort = new AbortController();
    const resolving = resolveContextEngine({ registry, config, signal: abort.signal });
    abort.abort();
    await expect(resolving).rejects.toThrow("aborted");
    expect(registry.quarantine.list()).toEqual([]);
  });

  it("that is aborted by its own is asked again at the next turn", async () => {
    let asked = 0;
    const { registry, resolve } = make(() => {
      if (asked++ === 0) throw new DOMException("stopped", "AbortError");
      return passThrough({ info: { id: "own", name: "Own" } });
    });
    expect(await resolve()).toMatchObject({ degraded: { reason: "stopped" } });
    expect(registry.quarantine.list()).toEqual([]);
    expect(await resolve()).toMatchObject({ degraded: null });
  });

  it("that was replaced while it ran does not count against its successor", async () => {
    let fail = (_error: Error) => {};
    const first = new Promise<never>((_, reject) => {
      fail = reject;
    });
    const { registry, register, resolve } = make(() => first);
    const resolving = resolve();
    register(() => passThrough({ info: { id: "own", name: "Second" } }));
    fail(new Error("first"));
    const resolved = await resolving;
    expect([resolved.degraded, resolved.guard.info().name]).toEqual([null, "Second"]);
    expect(registry.quarantine.list()).toEqual([]);
  });

  it("whose product is half an engine has it disposed, within a bound", async () => {
    const { resolve, log } = make((() => ({ info: {}, dispose: () => never })) as never, {
      bounds: () => ({ dispose: 10 }),
    });
    expect(await resolve()).toMatchObject({ degraded: { code: "ENGINE_CONTRACT_INVALID" } });
    expect(log.lines[0]).toContain("did not finish dispose within 0.01 s");
  });
});

describe("an engine that is registered again during a turn", () => {
  it("is used to the turn's end, then disposed, and the next turn gets the new one", async () => {
    const { disposed, version } = versions();
    const seen: string[] = [];
    const host = testHost({
      engine: () =>
        version("first", {
          assemble: ({ messages }) => {
            host.registry.register({
              ...{ engineId: "test", owner: "plugin:test", allowSameOwnerRefresh: true },
              factory: () => version("second"),
            });
            return { messages, estimatedTokens: 0 };
          },
          afterTurn: () => void seen.push(`used, disposed: ${disposed.length}`),
        }),
    });
    await host.say("one");
    expect(seen).toEqual(["used, disposed: 0"]);
    await expect.poll(() => disposed).toEqual(["first"]);
    expect((await host.say("two")).report.engine.name).toBe("second");
  });

  it("fails for itself alone", async () => {
    const { version } = versions();
    const host = testHost({
      engine: () =>
        version("first", {
          assemble: ({ messages }) => {
            host.registry.register({
              ...{ engineId: "test", owner: "plugin:test", allowSameOwnerRefresh: true },
              factory: () => version("second"),
            });
            return { messages, estimatedTokens: 0 };
          },
          afterTurn: () => {
            throw new Error("database is not open");
          },
        }),
    });
    const first = await host.say("one");
    expect(first.outcome).toBe("completed");
    expect(first.report.engine.degraded).toMatchObject({ reason: "database is not open" });
    expect(host.registry.quarantine.list()).toEqual([]);
    expect((await host.say("two")).report.engine).toMatchObject({ name: "second", degraded: null });
  });
});

describe("an engine in use", () => {
  it("does not hold up the removal of its plugin", async () => {
    const { disposed, version } = versions();
    const { registry, resolve } = make(() => version("first"));
    const first = (await resolve()).guard.enter({});
    await registry.unregisterOwner("plugin:a");
    expect(disposed).toEqual([]);
    expect(registry.get("a")).toBeUndefined();
    first.release();
    first.release();
    await expect.poll(() => disposed).toEqual(["first"]);
  });

  it("is kept for each of its users", async () => {
    const { disposed, version } = versions();
    const { registry, resolve } = make(() => version("first"));
    const [one, two] = [(await resolve()).guard.enter({}), (await resolve()).guard.enter({})];
    await registry.unregisterOwner("plugin:a");
    one.release();
    await sleep(5);
    expect(disposed).toEqual([]);
    two.release();
    await expect.poll(() => disposed).toEqual(["first"]);
  });

  it("is disposed at shutdown though nobody gives it back, within the bound", async () => {
    const { disposed, version } = versions();
    const { registry, resolve } = make(() => version("first"), {
      bounds: () => ({ dispose: 20 }),
    });
    (await resolve()).guard.enter({});
    await registry.dispose();
    expect(disposed).toEqual(["first"]);
  });

  it("may be one that was only just given out", async () => {
    const { disposed, version } = versions();
    const { resolve, register } = make(() => version("first"));
    const { guard } = await resolve();
    register(() => version("second"));
    await sleep(5);
    expect(disposed).toEqual([]);
    guard.enter({}).release();
    await expect.poll(() => disposed).toEqual(["first"]);
  });

  it("that nobody uses goes at once", async () => {
    const { disposed, version } = versions();
    const { registry, resolve } = make(() => version("first"));
    (await resolve()).guard.enter({}).release();
    await registry.unregisterOwner("plugin:a");
    expect(disposed).toEqual(["first"]);
  });
});

it("an engine that is registered for discovery only is not used, and that is said", async () => {
  const log = memoryLog();
  const registry = createEngineRegistry({ fallback: () => passThrough(), log, clock });
  registry.register({
    ...{ engineId: "a", owner: "plugin:a", lifecycle: "readOnlyDiscovery" },
    factory: () => passThrough(),
  });
  await resolveContextEngine({ registry, config });
  expect(log.lines).toEqual([
    'warn context engine "a" is not used: registered for discovery only: its plugin is not fully loaded',
  ]);
});

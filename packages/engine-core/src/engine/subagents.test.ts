import type { ContextEngine } from "@clew/plugin-sdk/core";
import { describe, expect, it, vi } from "vitest";
import { memoryLog, passThrough, testHost } from "../__fixtures__/host.ts";
import {
  CLEW_EMBEDDED_HOST,
  notifySubagentEnded,
  prepareSubagentSpawn,
  resolveContextEngine,
} from "../index.ts";

const params = { parentSessionKey: "p", childSessionKey: "c" };

async function prepare(
  overrides: Partial<ContextEngine>,
  options: {
    lightContext?: boolean;
    contextMode?: "fork";
    signal?: AbortSignal;
    boundMs?: number;
  } = {},
) {
  const { boundMs = 30_000 } = options;
  const host = testHost({
    engine: passThrough({ info: { id: "parent", name: "Parent" }, ...overrides }),
    registry: { bounds: () => ({ prepareSubagentSpawn: boundMs }) },
  });
  const engine = await resolveContextEngine({
    registry: host.registry,
    config: { plugins: { slots: { contextEngine: "test" } } },
  });
  const log = memoryLog();
  const { lightContext, contextMode, signal } = options;
  const spawn = () =>
    prepareSubagentSpawn({
      engine,
      host: CLEW_EMBEDDED_HOST,
      log,
      params: { ...params, ...(contextMode && { contextMode }) },
      ...(lightContext && { lightContext }),
      ...(signal && { signal }),
    });
  return { host, engine, log, spawn, hostLog: host.log };
}

describe("a subagent", () => {
  it("is prepared, and the preparation is undone at most once, errors swallowed", async () => {
    let undone = 0;
    const { spawn, log } = await prepare({
      prepareSubagentSpawn: () => ({
        rollback: () => {
          undone++;
          throw new Error("too late");
        },
      }),
    });
    const prepared = await spawn();
    await prepared.rollback();
    await prepared.rollback();
    expect(undone).toBe(1);
    expect(log.lines).toEqual(["warn context engine subagent rollback failed: too late"]);
  });

  it("whose preparation throws is not spawned, and the engine is set aside", async () => {
    const { spawn, host } = await prepare({
      prepareSubagentSpawn: () => {
        throw new Error("no grant");
      },
    });
    await expect(spawn()).rejects.toThrow("Context engine subagent preparation failed: no grant");
    expect(host.registry.quarantine.get("test", "p")).toMatchObject({
      operation: "prepareSubagentSpawn",
    });
  });

  describe("whose preparation arrives when nobody waits for it any more", () => {
    /** An engine that prepares when it is told to. */
    function late(rollback: () => Promise<void> | void) {
      const { promise, resolve } = Promise.withResolvers<{ rollback: typeof rollback }>();
      return {
        prepareSubagentSpawn: () => promise,
        arrive: () => resolve({ rollback }),
      };
    }

    it("is undone once, after its bound", async () => {
      let undone = 0;
      const { arrive, ...engine } = late(() => void undone++);
      const { spawn, hostLog } = await prepare(engine, { boundMs: 5 });
      await expect(spawn()).rejects.toThrow("did not finish prepareSubagentSpawn");
      expect(undone).toBe(0);
      arrive();
      await vi.waitFor(() => expect(undone).toBe(1));
      expect(hostLog.lines.join("\n")).toContain(
        "prepareSubagentSpawn answered after the host had stopped waiting; undone",
      );
    });

    it("is undone once, after the spawn was given up", async () => {
      let undone = 0;
      const { arrive, ...engine } = late(() => void undone++);
      const stop = new AbortController();
      const { spawn } = await prepare(engine, { signal: stop.signal });
      const spawning = spawn();
      stop.abort();
      await expect(spawning).rejects.toThrow("aborted");
      arrive();
      await vi.waitFor(() => expect(undone).toBe(1));
    });

    it.each([
      ["throws", () => Promise.reject(new Error("too late")), "too late"],
      ["never ends", () => new Promise<void>(() => {}), "within 0.005 s"],
      ["is no function", "x" as unknown as () => void, "rollback"],
    ])("is logged when its rollback %s", async (_what, rollback, reason) => {
      const { arrive, ...engine } = late(rollback);
      const { spawn, hostLog } = await prepare(engine, { boundMs: 5 });
      await expect(spawn()).rejects.toThrow();
      arrive();
      await vi.waitFor(() =>
        expect(hostLog.lines.join("\n")).toMatch(
          new RegExp(`warn .* a late preparation was not rolled back: .*${reason}`),
        ),
      );
    });
  });

  it("with a light, isolated context needs no preparation", async () => {
    let asked = false;
    const { spawn } = await prepare(
      {
        prepareSubagentSpawn: () => {
          asked = true;
          return { rollback: () => {} };
        },
      },
      { lightContext: true },
    );
    await spawn();
    expect(asked).toBe(false);
  });

  it("asks for host capabilities only when it forks", async () => {
    const info = {
      id: "parent",
      name: "Parent",
      hostRequirements: {
        "subagent-spawn": { requiredCapabilities: ["thread-bootstrap-projection" as const] },
      },
    };
    await expect((await prepare({ info })).spawn()).resolves.toBeDefined();
    await expect((await prepare({ info }, { contextMode: "fork" })).spawn()).rejects.toThrow(
      "Missing host capabilities: thread-bootstrap-projection",
    );
  });

  it("that ended is told to the engine, best effort", async () => {
    const ended: unknown[] = [];
    const { engine, log } = await prepare({ onSubagentEnded: (notice) => void ended.push(notice) });
    await notifySubagentEnded({
      engine,
      params: { childSessionKey: "c", reason: "completed" },
      log,
    });
    expect(ended).toEqual([{ childSessionKey: "c", reason: "completed" }]);
  });
});

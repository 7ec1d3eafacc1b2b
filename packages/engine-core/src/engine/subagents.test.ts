import type { ContextEngine } from "@clew/plugin-sdk/core";
import { describe, expect, it } from "vitest";
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
  options: { lightContext?: boolean; contextMode?: "fork" } = {},
) {
  const host = testHost({
    engine: passThrough({ info: { id: "parent", name: "Parent" }, ...overrides }),
  });
  const engine = await resolveContextEngine({
    registry: host.registry,
    config: { plugins: { slots: { contextEngine: "test" } } },
  });
  const log = memoryLog();
  const { lightContext, contextMode } = options;
  const spawn = () =>
    prepareSubagentSpawn({
      engine,
      host: CLEW_EMBEDDED_HOST,
      log,
      params: { ...params, ...(contextMode && { contextMode }) },
      ...(lightContext && { lightContext }),
    });
  return { host, engine, log, spawn };
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

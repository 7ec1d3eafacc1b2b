import { describe, expect, it } from "vitest";
import { memoryLog, passThrough } from "../__fixtures__/host.ts";
import { createEngineRegistry, resolveContextEngine } from "../index.ts";
import { planEngineSelection } from "./resolve.ts";

const clock = { now: () => 42, monotonic: () => 0 };
const make = () => createEngineRegistry({ fallback: () => passThrough(), log: memoryLog(), clock });
const factory = () => passThrough({ info: { id: "own-id", name: "Own" } });

describe("registration", () => {
  it("reserves legacy for core", () => {
    expect(make().register({ engineId: " legacy ", owner: "plugin:x", factory })).toEqual({
      ok: false,
      existingOwner: "core",
    });
  });

  it("belongs to its first owner, who alone may refresh it, and only on purpose", () => {
    const registry = make();
    expect(registry.register({ engineId: "a", owner: "plugin:a", factory })).toEqual({ ok: true });
    expect(
      registry.register({ engineId: "a", owner: "plugin:b", factory, allowSameOwnerRefresh: true }),
    ).toEqual({
      ok: false,
      existingOwner: "plugin:a",
    });
    expect(registry.register({ engineId: "a", owner: "plugin:a", factory })).toEqual({
      ok: false,
      existingOwner: "plugin:a",
    });
    expect(
      registry.register({ engineId: "a", owner: "plugin:a", factory, allowSameOwnerRefresh: true }),
    ).toEqual({ ok: true });
  });

  it("by read-only discovery never replaces a runtime one", async () => {
    const registry = make();
    registry.register({ engineId: "a", owner: "plugin:a", factory });
    const discovery = () => passThrough({ info: { id: "discovery", name: "D" } });
    expect(
      registry.register({
        engineId: "a",
        owner: "plugin:a",
        factory: discovery,
        lifecycle: "readOnlyDiscovery",
      }),
    ).toEqual({
      ok: true,
    });
    expect((await registry.instance("a", {})).info().id).toBe("own-id");
  });

  it("needs an owner", () => {
    expect(() => make().register({ engineId: "a", owner: "  ", factory })).toThrow(
      "without an owner",
    );
  });
});

describe("live engines", () => {
  it("are made once per engine, agent and workspace, and disposed together", async () => {
    let made = 0;
    let disposed = 0;
    const registry = make();
    registry.register({
      engineId: "a",
      owner: "plugin:a",
      factory: () => {
        made++;
        return { ...factory(), dispose: () => void disposed++ };
      },
    });
    await Promise.all([
      registry.instance("a", {}),
      registry.instance("a", {}),
      registry.instance("a", { agentDir: "/b" }),
    ]);
    expect(made).toBe(2);
    await registry.dispose();
    expect(disposed).toBe(2);
    await registry.instance("a", {});
    expect(made).toBe(3);
  });

  it("that are invalid are named with every problem and disposed", async () => {
    let disposed = false;
    const registry = make();
    registry.register({
      engineId: "bad",
      owner: "plugin:bad",
      factory: (() => ({
        info: { id: " " },
        assemble() {},
        dispose: () => (disposed = true),
      })) as never,
    });
    await expect(registry.instance("bad", {})).rejects.toMatchObject({
      code: "ENGINE_CONTRACT_INVALID",
      message:
        'Context engine "bad" factory returned an invalid ContextEngine: missing info.id, missing info.name, missing ingest(), missing compact().',
    });
    expect(disposed).toBe(true);
    registry.register({ engineId: "none", owner: "plugin:none", factory: (() => null) as never });
    await expect(registry.instance("none", {})).rejects.toThrow(
      'Context engine "none" factory returned null instead of a ContextEngine object.',
    );
  });
});

describe("the slot", () => {
  const owner = (engineId: string) => (engineId === "notes" ? "notes-plugin" : undefined);

  it.each([undefined, "", "  ", "none", "NONE"])("%j means legacy by default", (contextEngine) => {
    expect(planEngineSelection({ slots: { contextEngine } }, owner)).toMatchObject({
      engineId: "legacy",
      source: "default",
      configured: null,
    });
  });

  it("holds an engine id, and keeps it while its plugin is switched off", () => {
    const slots = { contextEngine: "notes" };
    expect(planEngineSelection({ slots }, owner)).toMatchObject({
      engineId: "notes",
      source: "configured",
      switchedOff: null,
    });
    expect(planEngineSelection({ slots, enabled: false }, owner)).toMatchObject({
      configured: "notes",
      engineId: "legacy",
      switchedOff: "plugins are disabled",
    });
    expect(planEngineSelection({ slots, deny: ["notes-plugin"] }, owner)).toMatchObject({
      engineId: "legacy",
      switchedOff: 'plugin "notes-plugin" is denied',
    });
    expect(
      planEngineSelection({ slots, entries: { "notes-plugin": { enabled: false } } }, owner),
    ).toMatchObject({ engineId: "legacy" });
  });

  it("with an engine that is registered for discovery only gives legacy without quarantine", async () => {
    const registry = make();
    registry.register({
      engineId: "a",
      owner: "plugin:a",
      factory,
      lifecycle: "readOnlyDiscovery",
    });
    const resolved = await resolveContextEngine({
      registry,
      config: { plugins: { slots: { contextEngine: "a" } } },
    });
    expect(resolved).toMatchObject({ configured: "a", degraded: { operation: "resolve" } });
    expect(registry.quarantine.list()).toEqual([]);
  });

  it("with an engine whose factory throws quarantines it under its registered id", async () => {
    const registry = make();
    registry.register({
      engineId: "a",
      owner: "plugin:a",
      factory: () => {
        throw new Error("no \u001b[31mdatabase\n here");
      },
    });
    const resolved = await resolveContextEngine({
      registry,
      config: { plugins: { slots: { contextEngine: "a" } } },
    });
    expect(resolved).toMatchObject({
      degraded: { operation: "factory", reason: "no database here" },
    });
    expect(registry.quarantine.list()).toEqual([
      {
        engineId: "a",
        owner: "plugin:a",
        operation: "factory",
        code: "ENGINE_FACTORY_FAILED",
        reason: "no database here",
        scope: { kind: "everywhere" },
        failedAt: 42,
      },
    ]);
  });
});

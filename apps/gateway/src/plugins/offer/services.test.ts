import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { temporaryHome } from "../../testing/home.ts";
import { collectLog, writePlugin } from "../../testing/plugins.ts";
import { createPluginHost } from "../host.ts";
import { createServices, type OwnedService } from "./services.ts";

const context = { config: {}, workspaceDir: "/w" };
const stateDirOf = () => "/s";

function services(list: readonly Partial<OwnedService>[], stopMs?: number) {
  const log = collectLog();
  const owned = list.map((service, index) => ({
    ...{ pluginId: "p", id: `s${index}`, start: () => {} },
    ...service,
  }));
  const runAs = <Result>(_pluginId: string, work: () => Result) => work();
  const request = { services: owned, context, stateDirOf, log, runAs, ...(stopMs && { stopMs }) };
  return { log, services: createServices(request) };
}

describe("the services of plugins", () => {
  it("start together, know where they may keep things, and stop once", async () => {
    const seen: unknown[] = [];
    const { services: all } = services([
      { start: ({ stateDir, workspaceDir }) => seen.push(["start", stateDir, workspaceDir]) },
      { start: async () => void seen.push("second"), stop: () => seen.push("stop") },
    ]);
    all.start();
    all.start();
    expect(seen).toEqual([["start", "/s", "/w"], "second"]);
    await Promise.all([all.stop(), all.stop()]);
    expect(seen.slice(2)).toEqual(["stop"]);
    all.start();
    expect(seen).toHaveLength(3);
  });

  it("that fail are a line in the log, and the others go on", async () => {
    let isUp = false;
    const { services: all, log } = services([
      { start: () => Promise.reject(new Error("no port")) },
      {
        start: () => {
          throw new Error("at once");
        },
        stop: () => {
          throw new Error("stuck");
        },
      },
      {
        start: () => {
          isUp = true;
        },
      },
    ]);
    all.start();
    await all.stop();
    expect(isUp).toBe(true);
    expect(log.lines.toSorted()).toEqual([
      "warn [plugins] p: service s0 did not start: no port",
      "warn [plugins] p: service s1 did not start: at once",
      "warn [plugins] p: service s1 did not stop: stuck",
    ]);
  });

  it("that do not come to their end are named by their plugins", async () => {
    const never = () => new Promise<void>(() => {});
    const { services: all } = services([{ start: never, stop: never }], 400);
    all.start();
    expect(all.unfinished()).toEqual([]);
    const stopped = all.stop(0);
    expect(all.unfinished()).toEqual(['service s0 of plugin "p"']);
    await stopped;
    expect(all.unfinished()).toEqual([]);
  });

  it("whose start still goes on are told to stop at once where nobody waits for it", async () => {
    const seen: string[] = [];
    const start = () => new Promise<void>(() => {});
    const { services: all } = services([{ start, stop: () => seen.push("stop") }], 60_000);
    all.start();
    await all.stop(0);
    expect(seen).toEqual(["stop"]);
  });

  it("that never finish starting, or stopping, hold up the end for a bounded time only", async () => {
    const never = () => new Promise(() => {});
    let told = false;
    const stop = () => {
      told = true;
      return never();
    };
    const { services: all, log } = services([{ start: never, stop }], 20);
    all.start();
    await all.stop();
    expect(told).toBe(true);
    expect(log.lines).toEqual([
      "warn [plugins] p: service s0 did not stop: not finished within 0.02 s",
    ]);
  });
});

describe("the services of a gateway's plugins", () => {
  it("run from its start on, those of a reload after the ones they replace, and to its end", async () => {
    const home = await temporaryHome();
    const world = globalThis as { services?: string[] };
    world.services = [];
    onTestFinished(() => {
      delete world.services;
    });
    const write = (name: string) =>
      writePlugin(join(home, "sources/clock"), {
        id: "clock",
        code: `export default (api) => {
          const say = (what) => globalThis.services.push(${JSON.stringify(name)} + " " + what);
          api.registerService({ id: "c", start: () => say("start"), stop: async () => say("stop") });
        };`,
      });
    const plugins = { load: { paths: [write("one")] } };
    const log = collectLog();
    const host = await createPluginHost({ home, plugins, raw: { plugins }, log });
    onTestFinished(() => host.close());
    expect(world.services).toEqual([]);
    host.startServices();
    write("two");
    await host.reload({ plugins, raw: { plugins } });
    expect(world.services).toEqual(["one start", "one stop", "two start"]);
    await host.close();
    expect(world.services).toEqual(["one start", "one stop", "two start", "two stop"]);
  });
});

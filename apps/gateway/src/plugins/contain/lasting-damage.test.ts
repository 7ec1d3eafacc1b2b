// What becomes of a gateway after what cannot be put back, and of what is sent meanwhile.
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { EXIT } from "../../terminal/exit-codes.ts";
import { clew, exitCodeOf } from "../../testing/command.ts";
import { startPluginProcess } from "../../testing/plugin-process.ts";
import { engineCode } from "../../testing/plugins.ts";
import { readSafeMode } from "../safe-mode.ts";

/** The plugin's command runs the piece of code that it is given the name of. */
const doing = (pieces: Record<string, string>) => {
  const cases = Object.entries(pieces).map(([name, code]) => `case "${name}": ${code} break;`);
  return engineCode("small").replace(
    "register(api) {",
    `register(api) {
      api.registerCommand({ name: "do", description: "Does.", acceptsArgs: true, handler: async ({ args }) => {
        switch (args.trim()) { ${cases.join("\n")} }
        return { text: "did " + args };
      } });`,
  );
};

describe("a plugin that changes something for good", () => {
  it.each([
    [
      "JSON.parse",
      "Object.defineProperty(JSON, 'parse', { value() { throw new Error('taken'); }, configurable: false, writable: false });",
    ],
    ["Array.prototype.map", "Array.prototype.map = () => []; Object.freeze(Array.prototype);"],
  ])("as %s ends the gateway, is named, and is left off by the next start", async (name, code) => {
    const { home, child, say } = await startPluginProcess(doing({ harm: code }), {
      gateway: { watchdogSeconds: 2 },
    });
    await say("/do harm").catch(() => {});
    expect(await exitCodeOf(child)).toBe(EXIT.blocked);
    expect(child.errors()).toContain(`clew: stopping: Plugin "small" changed ${name} so that`);
    expect(readSafeMode(home).plugins.small?.reason).toContain(`changed ${name} so that it cannot`);
  });

  it("only freezes it, and nothing ends", async () => {
    const { say, log, stop } = await startPluginProcess(
      doing({ freeze: "Object.freeze(Array.prototype); Object.freeze(JSON);" }),
      { gateway: { watchdogSeconds: 2 } },
    );
    await say("/do freeze");
    for (let turn = 0; turn < 4; turn++)
      expect((await say("hello")).at(-1)).toMatchObject({ outcome: "completed" });
    expect(log()).toContain("Array.prototype (frozen, until a restart)");
    expect(await stop()).toBe(0);
  });
});

describe("a plugin that changes something for a moment", () => {
  it("leaves no stream without an end and no session at work", async () => {
    const loops = "Array.prototype[Symbol.iterator] = () => { throw new Error('taken'); };";
    const { say, log, stop } = await startPluginProcess(
      doing({
        date: "Date.prototype.toISOString = () => { throw new Error('taken'); };",
        "date-later":
          "await null; Date.now = () => { throw new Error('taken'); }; await new Promise((go) => setTimeout(go, 20));",
        loops,
        "loops-later": `await null; ${loops} await new Promise((go) => setTimeout(go, 20));`,
        "loops-in-a-timer": `setTimeout(() => { ${loops} }, 1); await new Promise((go) => setTimeout(go, 40));`,
      }),
    );
    for (const name of ["date", "date-later", "loops", "loops-later", "loops-in-a-timer"]) {
      const others = [1, 2, 3].map((at) => say("hello", `other-${at}`).catch(() => []));
      for (const events of await Promise.all([say(`/do ${name}`), ...others]))
        if (events.length > 0) expect(["done", "error"], name).toContain(events.at(-1)?.type);
      await pause(300);
      for (const session of ["main", "other-1", "other-2", "other-3"])
        expect((await say("again", session)).at(-1), name).toMatchObject({ outcome: "completed" });
    }
    expect(log()).toContain("Array.prototype[Symbol.iterator] (put back)");
    expect(await stop()).toBe(0);
  });
});

describe("a plugin that does a great deal", () => {
  it("of short pieces of work without rest is named, and nothing ends", async () => {
    const { home, say, record, stop } = await startPluginProcess(
      doing({
        work: "(function slice() { for (const end = Date.now() + 200; Date.now() < end; ); setImmediate(slice); })();",
      }),
    );
    await say("/do work");
    await expect
      .poll(async () => (await record()).busy?.last.message, { timeout: 120_000, interval: 2000 })
      .toMatch(/^it leaves others little of the gateway's time: .* slice \(index\.js:\d+\)$/);
    expect((await clew(home, ["doctor"])).output).toMatch(
      /warning {2}plugin small: little time left to others, at .*slice \(index\.js/,
    );
    await stop();
  });

  it("of errors at once is told of what it was, and how many more there were", async () => {
    const { child, say, record, stop } = await startPluginProcess(
      doing({
        reject: "for (let at = 0; at < 20_000; at++) void Promise.reject(new Error('no ' + at));",
      }),
      { gateway: { watchdogSeconds: 5 } },
    );
    await say("/do reject");
    await expect
      .poll(async () => (await record()).strays?.last.message)
      .toBe("19800 more errors came at once, which nothing looked at");
    expect((await say("hello")).at(-1)).toMatchObject({ outcome: "completed" });
    expect(child.errors()).not.toContain("stopping: ");
    expect(await stop()).toBe(0);
  });

  it("of text in one answer gets the beginning sent", async () => {
    const code = doing({}).replace('text: "did " + args', 'text: "long ".repeat(8_000_000)');
    const { say, stop } = await startPluginProcess(code);
    const events = await say("/do it");
    const told = events.find(({ type }) => type === "command");
    expect(told?.text).toMatch(/^long long .*…\n\(This is the beginning of 39063 KiB/s);
    expect(events.at(-1)).toMatchObject({ type: "done" });
    expect(await stop()).toBe(0);
  });
});

describe("an error of which nobody knows whose it is", () => {
  it("is not called the gateway's own", async () => {
    const { say, log, stop } = await startPluginProcess(
      doing({ wasm: "void WebAssembly.compile(new Uint8Array(3));" }),
    );
    await say("/do wasm");
    await expect.poll(log).toMatch(/WebAssembly\.compile/);
    expect(log()).not.toContain("an error of the gateway itself");
    expect(await stop()).toBe(0);
  });
});

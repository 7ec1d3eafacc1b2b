// Plugins in processes of their own, beside a gateway.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { PluginTool } from "@clew/plugin-sdk/core";
import { checkEngine } from "@clew/plugin-sdk/testing";
import { describe, expect, it } from "vitest";
import { parseLine } from "../../commands/parse.ts";
import { temporaryHome } from "../../testing/home.ts";
import { collectLog, startPluginGateway, writePlugin } from "../../testing/plugins.ts";
import { readPluginFiles } from "../find/manifest.ts";
import { createStrays } from "../strays.ts";
import { loadIsolated } from "./isolated.ts";
import { planRestart, planSilence } from "./order.ts";

const CODE = `
import { delegateCompactionToRuntime } from "openclaw/plugin-sdk/core";
let turns = 0;
export default { id: "small", register(api) {
  api.registerContextEngine("small", (context) => ({
    info: { id: "small", name: "Small", version: "1.2.3" },
    ingest: async () => ({ ingested: true }),
    async assemble({ messages, sessionKey, availableTools }) {
      turns++;
      const session = sessionKey.split(":").at(-1);
      if (session === "die" && turns < 5) process.exit(7);
      if (session === "spin" && turns < 5) while (true) {}
      if (session === "throw") throw Object.assign(new Error("no"), { code: "ODD" });
      return { messages, estimatedTokens: 0, systemPromptAddition: "pid " + process.pid };
    },
    compact: (params) => delegateCompactionToRuntime(params),
    afterTurn: async ({ runtimeContext, messages }) => {
      const answer = await runtimeContext.llm.complete({ messages: [{ role: "user", content: "count" }] });
      api.logger.info("afterTurn saw " + messages.length + " and a model said " + typeof answer.text);
    },
    control: ({ operation }) => ({ ok: true, text: operation + " in " + process.pid }),
  }));
  api.registerTool((context) => ({
    name: "small_look", description: "Looks.", parameters: { type: "object", properties: { at: { type: "string" } } },
    annotations: { readOnlyHint: true },
    execute: async (id, { at }) => ({ content: [{ type: "text", text: at + " in " + context.sessionKey }] }),
  }), { names: ["small_look"] });
  api.registerCommand({ name: "small", description: "Says.", acceptsArgs: true,
    async handler({ args, config, sessionKey }) {
      if (args === "die") process.exit(9);
      if (args === "stray") { setTimeout(() => { throw new Error("too late"); }); }
      return { text: [process.pid, sessionKey, config.plugins.slots.contextEngine, api.pluginConfig.mood].join(" ") };
    } });
} };`;

async function start(code = CODE, settings: object = {}) {
  const home = await temporaryHome();
  const folder = writePlugin(join(home, "sources/small"), {
    code,
    manifest: {
      contracts: { tools: ["small_look"] },
      configSchema: { type: "object", properties: { mood: { type: "string", default: "calm" } } },
    },
  });
  const plugins = {
    load: { paths: [folder] },
    slots: { contextEngine: "small" },
    entries: { small: { isolation: "process" } },
  };
  const started = await startPluginGateway({ plugins, ...settings }, home);
  const { gateway } = started;
  const command = async (text: string, session = "main") => {
    const line = parseLine(text);
    if (line.kind !== "command") throw new Error(text);
    return (await gateway.command(session, line)).text;
  };
  const pid = async () => Number((await command("/small")).split(" ")[0]);
  return { ...started, home, folder, command, pid };
}

const isRunning = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe("a plugin in a process of its own", () => {
  it("has its engine, tools and commands there, and its host here", async () => {
    const { say, command, plugins, pid, log, stop } = await start();
    expect(plugins.records()).toMatchObject([
      { id: "small", status: "loaded", engines: ["small"], isolation: "process", diagnostics: [] },
    ]);
    const own = await pid();
    expect(own).not.toBe(process.pid);
    expect(await command("/small", "other")).toBe(`${own} agent:main:other small calm`);
    const { outcome, report } = await say("hello");
    expect(outcome).toBe("completed");
    expect(report.engine).toMatchObject({ ran: "small", degraded: null });
    await expect
      .poll(() => log.lines.join("\n"))
      .toContain("[plugins] small: afterTurn saw 2 and a model said string");
    expect(await command("/engine")).toContain(`Store: doctor in ${own}`);
    const compacted = await command("/compact");
    expect(compacted).not.toMatch(/no built-in/);
    const [tool] = plugins.tools();
    const made = tool!.make({ sessionKey: "agent:main:x", sessionId: "1" }) as unknown as {
      execute: (id: string, given: object) => Promise<unknown>;
    }[];
    expect(await made[0]!.execute("call", { at: "home" })).toEqual({
      content: [{ type: "text", text: "home in agent:main:x" }],
    });
    await stop();
    await expect.poll(() => isRunning(own)).toBe(false);
  });

  it("costs the turn that met its death the engine, and no other", async () => {
    const { say, command, plugins, pid, log } = await start();
    const before = await pid();
    const { outcome, report } = await say("hello", { session: "die" });
    expect(outcome).toBe("completed");
    expect(report.engine.degraded).toMatchObject({
      operation: "assemble",
      reason: 'the process of plugin "small" ended (exit code 7)',
    });
    await expect
      .poll(() => log.lines.join("\n"))
      .toContain("[plugins] small: its process runs again");
    expect(log.lines.join("\n")).toContain(
      "[plugins] small: its process ended (exit code 7); it is started again",
    );
    const next = await say("hello", { session: "other" });
    expect(next.report.engine).toMatchObject({ ran: "small", degraded: null });
    const again = await say("hello", { session: "die" });
    expect(again.report.engine.degraded).toMatchObject({ operation: "assemble" });
    expect(await pid()).not.toBe(before);
    expect(plugins.records()[0]!.strays?.last.message).toMatch(/its process ended \(exit code 7\)/);
    const answers = () => command("/small");
    await expect.poll(answers, { timeout: 60_000 }).not.toContain("does not run again yet");
    await expect(command("/small die")).resolves.toContain(
      'the process of plugin "small" ended (exit code 9)',
    );
  });

  it("is started again where it dies while it starts for the first time", async () => {
    const mark = join(await temporaryHome(), "mark");
    writeFileSync(mark, "");
    const { command, plugins, log } = await start(
      `import { existsSync, rmSync } from "node:fs";
      if (existsSync(${JSON.stringify(mark)})) {
        rmSync(${JSON.stringify(mark)});
        process.kill(process.pid, "SIGKILL");
      }${CODE}`,
    );
    expect(plugins.records()[0]).toMatchObject({ status: "loaded" });
    expect(await command("/small")).toMatch(/^\d+ /);
    expect(log.lines.join("\n")).toContain(
      "its process ended while it started (SIGKILL); it is started again",
    );
  });

  it("is told of once where it ends again while it is started", async () => {
    const { say, folder, log } = await start();
    await say("hello", { session: "before" });
    writeFileSync(join(folder, "index.js"), "process.exit(8);");
    await say("hello", { session: "die" });
    await expect
      .poll(() => log.lines.join("\n"), { timeout: 60_000 })
      .toContain("[plugins] small: its process ended (exit code 8); it is started again");
  });

  it("is waited for by the turns of others that come while it is started again", async () => {
    const { say, gateway } = await start();
    await say("hello", { session: "before" });
    const met = await say("hello", { session: "die" });
    expect(met.report.engine.degraded).toMatchObject({ operation: "assemble" });
    // As long as a busy machine takes, they are answered without it, and told why.
    for (let at = 0; at < 100; at++) {
      const notices: string[] = [];
      const { outcome, report } = await gateway.send({
        ...{ key: `other-${at}`, content: "hello" },
        onEvent: (event) => void (event.type === "notice" && notices.push(event.text)),
      });
      const { degraded } = report.engine;
      expect(outcome).toBe("completed");
      expect(gateway.host.quarantined()).toEqual([]);
      if (degraded === null) break;
      expect(degraded.reason).toBe(
        'the process of plugin "small" ended (exit code 7) and does not run again yet',
      );
      expect(notices).toEqual([
        expect.stringMatching(/^Engine "small" failed .* does not run again yet\); another/),
      ]);
    }
    const { report } = await say("hello", { session: "before" });
    expect(report.engine).toMatchObject({ ran: "small", degraded: null });
  });

  it("offers what a factory makes for the folder of an agent, as in the gateway's process", async () => {
    const code = `
import { existsSync } from "node:fs";
const look = (place) => ({ name: "small_look", description: "Looks.", parameters: { type: "object", properties: {} },
  execute: async () => ({ content: [{ type: "text", text: place }] }) });
export default (api) => {
  api.registerContextEngine("small", () => ({}));
  api.registerTool(({ agentDir, agentId }) =>
    agentDir === undefined || agentId === "other" ? null : look(existsSync(agentDir) + " " + agentDir), { names: ["small_look"] });
};`;
    const { plugins, home } = await start(code, {
      agents: { list: [{ id: "main", default: true }, { id: "other" }] },
    });
    const agentDir = join(home, "agents/main");
    const [tool] = plugins.tools();
    const made = (agentId: string) =>
      tool!.make({ sessionKey: `agent:${agentId}:x`, sessionId: "1", agentId, agentDir });
    expect(made("main")).toMatchObject([{ name: "small_look", description: "Looks." }]);
    expect(made("other")).toEqual([]);
    const [look] = made("main") as PluginTool[];
    expect(await look!.execute("call", {})).toEqual({
      content: [{ type: "text", text: `true ${agentDir}` }],
    });
  });

  it("keeps its mistakes there, and they are told here", async () => {
    const { command, pid, log, say } = await start();
    const own = await pid();
    await command("/small stray");
    await expect
      .poll(() => log.lines.join("\n"))
      .toContain("[plugins] small: an error was thrown where nothing could catch it: too late");
    expect(await pid()).toBe(own);
    const { report } = await say("hello", { session: "throw" });
    expect(report.engine.degraded).toMatchObject({ operation: "assemble" });
    expect(report.engine.degraded?.reason).toMatch(/^no, at index\.js:\d+$/);
  });

  it("is ended and started again when it does not answer", async () => {
    const { say, pid, log } = await start(CODE, { gateway: { watchdogSeconds: 1 } });
    const before = await pid();
    const { outcome, report } = await say("hello", { session: "spin" });
    expect(outcome).toBe("completed");
    expect(report.engine.degraded?.reason).toBe(
      'the process of plugin "small" ended (it did not answer for 1 s)',
    );
    await expect.poll(() => log.lines.join("\n")).toContain("its process runs again");
    expect(isRunning(before)).toBe(false);
  });

  it("is replaced when plugins are loaded again", async () => {
    const { pid, folder, config, plugins, command } = await start();
    const before = await pid();
    writeFileSync(join(folder, "index.js"), CODE.replace('"Says."', '"Says more."'));
    await plugins.reload({ plugins: config.plugins as never, raw: config });
    expect(await pid()).not.toBe(before);
    await expect.poll(() => isRunning(before)).toBe(false);
    expect(await command("/help")).toContain("Says more.");
  });

  it("has an engine that behaves as it does here, by the conformance kit", async () => {
    const home = await temporaryHome();
    const kit = import.meta.resolve("@clew/plugin-sdk/testing");
    const code = `import { createMemoryEngine } from ${JSON.stringify(kit)};
      export default { register(api) { api.registerContextEngine("small", createMemoryEngine); } };`;
    const files = readPluginFiles(writePlugin(join(home, "small"), { code }));
    const log = collectLog();
    const { result, isolated } = await loadIsolated(files, files.entries[0]!, {
      ...{ home, log, mode: "full", generation: 0, entryConfig: undefined, watchdogSeconds: 0 },
      ...{ config: () => ({}), strays: createStrays(log), onEnded: () => {} },
      complete: () => Promise.reject(new Error("There is no model here.")),
    });
    if (!result.ok) throw new Error(result.reason);
    const { factory } = result.registrations.engines[0]!;
    const { results } = await checkEngine(async (context) => factory(context));
    expect(results.filter(({ outcome }) => outcome === "failed")).toEqual([]);
    expect(results.filter(({ outcome }) => outcome === "passed").length).toBeGreaterThan(40);
    await isolated!.end();
    expect(log.lines).toEqual([]);
  });

  it("may signal itself and others, and not the gateway", async () => {
    const code = `
import { kill } from "node:process";
const group = () => -process.getBuiltinModule("node:child_process").execFileSync("ps", ["-o", "pgid=", "-p", process.pid]);
const targets = { parent: () => process.ppid, text: () => String(process.ppid), group, all: () => -1, own: () => 0, self: () => process.pid };
export default { register(api) { api.registerContextEngine("small", () => ({}));
api.registerCommand({ name: "send", description: "Sends.", acceptsArgs: true,
  handler({ args }) {
    const [how, signal] = args.split(" ");
    try { (how === "text" ? kill : process.kill)(targets[how](), signal === "0" ? 0 : signal); } catch (error) { return { text: error.message }; }
    return { text: "sent" };
  } }); } };`;
    const { command, plugins } = await start(code);
    for (const [asked, shown] of [
      ["parent SIGUSR1", `${process.pid}, "SIGUSR1"`],
      ["text SIGUSR1", `"${process.pid}", "SIGUSR1"`],
      ["all SIGUSR1", '-1, "SIGUSR1"'],
      ["own SIGUSR1", '0, "SIGUSR1"'],
    ])
      expect(await command(`/send ${asked}`)).toBe(
        `Plugin "small": process.kill(${shown}) would end the gateway; it was refused.`,
      );
    expect(await command("/send group SIGUSR1")).toMatch(/would end the gateway; it was refused/);
    expect(await command("/send parent 0")).toBe("sent");
    expect(await command("/send self SIGTERM")).toBe("sent");
    expect(plugins.records()[0]!.refused?.count).toBe(5);
  });

  it("that is started again is waited for as long as one may wait, and no longer", async () => {
    const home = await temporaryHome();
    const files = readPluginFiles(writePlugin(join(home, "small"), { code: CODE }));
    const log = collectLog();
    const ends: string[] = [];
    const load = (waitMs: number) =>
      loadIsolated(files, files.entries[0]!, {
        ...{ home, log, mode: "full", generation: 0, entryConfig: undefined, watchdogSeconds: 0 },
        ...{ config: () => ({}), strays: createStrays(log), waitMs },
        onEnded: (pluginId) => void ends.push(pluginId),
        complete: () => Promise.reject(new Error("There is no model here.")),
      });
    for (const waitMs of [60_000, 0]) {
      const { result, isolated } = await load(waitMs);
      if (!result.ok) throw new Error(result.reason);
      const { engines, commands } = result.registrations;
      const command = (args: string) => commands[0]!.handler({ args, sessionKey: "x" } as never);
      await expect(command("die")).rejects.toThrow(/ended \(exit code 9\)$/);
      const made = (async () => engines[0]!.factory({}))();
      if (waitMs > 0) expect((await made).info.id).toBe("small");
      else await expect(made).rejects.toMatchObject({ name: "AbortError" });
      await isolated!.end();
    }
    expect(ends).toEqual(["small", "small"]);
  });

  it("is refused what only the gateway's process has, in a sentence", async () => {
    const { plugins } = await start(
      `export default (api) => { api.on("gateway_start", () => {}); api.registerService({ id: "x", start() {} }); };`,
    );
    expect(plugins.records()).toMatchObject([
      {
        status: "error",
        reason:
          'Plugin "small" uses api.on, api.registerService, which a plugin in a process of its own does not have; to run it in the gateway\'s: clew config unset plugins.entries.small.isolation',
      },
    ]);
  });

  it("is refused in the words of its author", async () => {
    const { plugins } = await start(`export default (api) => {
      api.registerHook("command:new", () => {}, { name: "news" });
      api.registerMemoryPromptSection(() => []);
    };`);
    expect(plugins.records()[0]!.reason).toContain(
      'Plugin "small" uses api.registerHook, api.registerMemoryPromptSection, which a plugin',
    );
  });

  it("that cannot be loaded is told as any other", async () => {
    const { plugins } = await start('throw new Error("not today");');
    expect(plugins.records()).toMatchObject([
      { status: "error", reason: 'Plugin "small" cannot be loaded: not today, at index.js:1.' },
    ]);
    const ended = await start("process.exit(3);");
    expect(ended.plugins.records()).toMatchObject([
      { status: "error", reason: 'the process of plugin "small" ended (exit code 3)' },
    ]);
  });
});

describe("a process that owes an answer", () => {
  it("is silent only while it could have answered", () => {
    const before = { silentMs: 0, lookedAt: 0, queuedMs: 0 };
    const busy = planSilence(before, { now: 2000, queuedMs: 1900 }, 2000);
    expect(busy.silentMs).toBe(100);
    expect(planSilence(busy, { now: 4000, queuedMs: 1900 }, 2000).silentMs).toBe(2100);
    // Nobody looked for a minute: the machine slept, or the gateway was busy.
    expect(planSilence(before, { now: 60_000, queuedMs: 0 }, 2000).silentMs).toBe(4000);
  });
});

describe("a process that ends again and again", () => {
  it("is started at once at first, and then less and less often", () => {
    const at = (...deaths: number[]) => planRestart(deaths, 100_000).pauseMs;
    expect(at(99_000)).toBe(0);
    expect(at(97_000, 98_000, 99_000)).toBe(0);
    expect(at(96_000, 97_000, 98_000, 99_000)).toBe(1000);
    expect(at(95_000, 96_000, 97_000, 98_000, 99_000, 99_500)).toBe(4000);
    expect(at(...Array.from({ length: 30 }, () => 99_000))).toBe(60_000);
    expect(at(1000, 2000, 3000, 4000, 99_000)).toBe(0);
  });
});

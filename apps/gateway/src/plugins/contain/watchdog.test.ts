// What becomes of a gateway that a plugin blocks, and of the next one.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { EXIT } from "../../terminal/exit-codes.ts";
import { clew, exitCodeOf, runClew, startClew } from "../../testing/command.ts";
import { parseStream, post } from "../../testing/gateway.ts";
import { temporaryHome } from "../../testing/home.ts";
import { startPluginProcess } from "../../testing/plugin-process.ts";
import { engineCode } from "../../testing/plugins.ts";
import { enterSafeMode, leaveSafeMode, readSafeMode, safeModeFile } from "../safe-mode.ts";

const assembling = (code: string) =>
  engineCode(
    "small",
    `assemble: async ({ messages }) => { ${code}; return { messages, estimatedTokens: 0 }; },`,
  );

describe("a plugin that blocks the gateway", () => {
  it("is found out, and the next start comes up without it and says so", async () => {
    const loop = "setTimeout(function spin() {\n while (true) {} }, 5)";
    const { home, child, say, log } = await startPluginProcess(assembling(loop), {
      gateway: { watchdogSeconds: 2 },
    });
    await say("hello").catch(() => {});
    expect(await exitCodeOf(child)).toBe(EXIT.blocked);
    expect(child.errors().trim().split("\n").at(-1)).toMatch(
      /^clew: stopping: Plugin "small" kept the gateway from answering for \d+ s, at spin \(index\.js:\d+\); the next start leaves it off \(safe mode\), until "clew plugins enable small"\.$/,
    );
    const why =
      /it is off in safe mode, because it kept the gateway from answering for \d+ s, at spin \(index\.js:\d+\) \(.* UTC\); clew plugins enable small brings it back/;
    const next = startClew(home, ["start"]);
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(await next.nextLine())![0];
    await expect.poll(() => next.lines.join("\n")).toMatch(why);
    expect(next.lines.join("\n")).toContain('Safe mode: plugin "small": it is off');
    expect(next.errors()).toMatch(why);
    expect(log()).toMatch(why);
    const reply = await fetch(`${url}/api/sessions/main/messages`, post({ text: "hello" }));
    const { events } = parseStream(await reply.text());
    expect(events.find(({ type }) => type === "notice")?.text).toMatch(why);
    const safeMode = [{ plugin: "small", reason: expect.stringMatching(why) }];
    expect(events.at(-1)).toMatchObject({ type: "done", outcome: "completed", safeMode });
    expect(await (await fetch(`${url}/api/health`)).json()).toMatchObject({ safeMode });
    const status = await fetch(`${url}/api/sessions/main/messages`, post({ text: "/status" }));
    expect(await status.text()).toMatch(/Safe mode: plugin \\"small\\": it is off in safe mode/);
    const doctor = (await clew(home, ["doctor"])).output;
    expect(doctor).toMatch(new RegExp(`FAILURE {2}plugin small: ${why.source}`));
    expect(doctor).toContain(
      '"small" does not work (its plugin "small" is off in safe mode); "legacy" answers instead\n',
    );
    expect(doctor).toMatch(/ok +gateway: runs at/);
    next.process.kill("SIGTERM");
    expect(await next.exit).toBe(0);
    expect((await clew(home, ["plugins", "list"])).output).toMatch(why);
    expect((await clew(home, ["plugins", "enable", "small"])).output).toContain(
      "It is in safe mode no longer.",
    );
    expect(existsSync(safeModeFile(home))).toBe(false);
    expect((await clew(home, ["chat", "/engine"])).output).toContain("Engine: small");
  });

  it("is named to whoever waits for a reply at a command", async () => {
    const loop = "for (;;);";
    const { home, child } = await startPluginProcess(assembling(loop), {
      gateway: { watchdogSeconds: 2 },
    });
    const { code, errors } = await runClew(home, ["chat", "hello"]);
    expect(errors.trim().split("\n").at(-1)).toMatch(
      /^clew: The gateway ended before the reply did: plugin "small" kept the gateway from answering for \d+ s, at .*\(index\.js:\d+\), and is off from its next start on \(safe mode\)\. What had arrived is kept; "clew start" starts it again\. \[GATEWAY_STOPPING\]$/,
    );
    expect(code).toBe(1);
    expect(await exitCodeOf(child)).toBe(EXIT.blocked);
  });

  it("may be halted wherever it blocks, while it is loaded too", async () => {
    const { home, child } = await startPluginProcess(
      `if (process.argv.includes("start")) for (;;) await null;\n${engineCode("small")}`,
      { gateway: { watchdogSeconds: 2 }, waits: false },
    );
    expect(await exitCodeOf(child)).toBe(EXIT.blocked);
    expect(readSafeMode(home).plugins.small?.reason).toMatch(/^kept the gateway from answering/);
  });
});

describe("a plugin that keeps a gateway from its end", () => {
  it("is found out after the gateway has stopped, too", async () => {
    const { home, child, stop } = await startPluginProcess(
      engineCode("small").replace(
        "register(api) {",
        "register(api) { api.on('gateway_stop', () => { setTimeout(() => { for (;;); }, 300); });",
      ),
      { gateway: { watchdogSeconds: 2 } },
    );
    await stop();
    expect(await exitCodeOf(child)).toBe(EXIT.blocked);
    expect(child.errors()).toContain('clew: stopping: Plugin "small" kept the gateway from');
    expect(Object.keys(readSafeMode(home).plugins)).toEqual(["small"]);
  });
});

describe("a plugin that stops without end", () => {
  it.each([
    ["a hook", "api.on('gateway_stop', () => { for (;;); });"],
    ["a service", "api.registerService({ id: 's', start() {}, stop() { for (;;); } });"],
  ])(
    "in %s keeps a gateway from its end for seconds, however long a turn may take",
    async (_, code) => {
      const { home, child, stop } = await startPluginProcess(
        engineCode("small").replace("register(api) {", `register(api) { ${code}`),
        { gateway: { watchdogSeconds: 600 } },
      );
      await stop();
      expect(await exitCodeOf(child)).toBe(EXIT.blocked);
      expect(child.errors()).toContain('clew: stopping: Plugin "small" kept the gateway from');
      expect(Object.keys(readSafeMode(home).plugins)).toEqual(["small"]);
    },
  );
});

describe("a plugin after which the gateway answers nobody", () => {
  it("is left off by the next start, although the loop turns on", async () => {
    const harm =
      "setTimeout(() => Object.defineProperty(Object.prototype, 'headers', { value: 'x', enumerable: true }), 5)";
    const { home, child, say } = await startPluginProcess(assembling(harm), {
      gateway: { watchdogSeconds: 2 },
    });
    await say("hello").catch(() => {});
    expect(await exitCodeOf(child)).toBe(EXIT.blocked);
    expect(child.errors()).toMatch(
      /clew: stopping: Plugin "small" changed Object\.prototype\.headers so that it cannot be put back, after which the gateway answered nobody for 2 s; the next start leaves it off \(safe mode\)/,
    );
    expect(readSafeMode(home).plugins.small?.reason).toMatch(/^changed Object\.prototype\.headers/);
  });
});

const IN_A_CHANNEL =
  'process.getBuiltinModule("node:diagnostics_channel").subscribe("http.server.request.start", new Function("for(;;);"))';
const AS_ANOTHER =
  'setTimeout(new Function("for(;;);\\n//# sourceURL=" + import.meta.url.replace("small", "other")), 5)';

describe("a loop in code that is in no file", () => {
  it.each([
    ["is called by Node for nobody", IN_A_CHANNEL],
    ["says that it is of another plugin", AS_ANOTHER],
  ])("and %s is that of the plugin that made it", async (_, code) => {
    const { home, child, say } = await startPluginProcess(assembling(code), {
      ...{ gateway: { watchdogSeconds: 2 }, beside: ["other"] },
    });
    await say("hello").catch(() => {});
    await say("hello").catch(() => {});
    expect(await exitCodeOf(child)).toBe(EXIT.blocked);
    expect(child.errors()).toContain('clew: stopping: Plugin "small" kept the gateway from');
    expect(Object.keys(readSafeMode(home).plugins)).toEqual(["small"]);
  });
});

describe("a plugin that freezes what Node's own objects are made of", () => {
  it("is named for it when the gateway falls silent", async () => {
    const freeze = 'Object.freeze(process.getBuiltinModule("node:events").prototype)';
    const { home, child, say } = await startPluginProcess(assembling(freeze), {
      ...{ gateway: { watchdogSeconds: 2 }, beside: ["other"] },
    });
    await say("hello").catch(() => {});
    expect(await exitCodeOf(child)).toBe(EXIT.blocked);
    expect(readSafeMode(home).plugins).toEqual({
      small: {
        at: expect.any(String),
        reason: expect.stringMatching(/^changed events\.EventEmitter\.prototype so that/),
      },
    });
  });
});

/** What a hook of "small" does, and why nothing shows that it was its doing. */
const HIDDEN = {
  "destroys every answer in a channel of Node's": [
    'process.getBuiltinModule("node:diagnostics_channel").subscribe("http.server.request.start", ({ response }) => response.destroy())',
    "has answered nobody for 2 s, although it ran",
  ],
};

describe("a fault that nothing lays at one plugin's door", () => {
  it.each(Object.entries(HIDDEN))(
    "%s: all that may be at fault are left off, and come back one by one",
    async (_, [code, told]) => {
      const { home, child, say } = await startPluginProcess(assembling(code!), {
        ...{ gateway: { watchdogSeconds: 2 }, beside: ["other"] },
      });
      await say("hello").catch(() => {});
      expect(await exitCodeOf(child)).toBe(EXIT.blocked);
      expect(child.errors()).toContain(
        `clew: stopping: the gateway ${told}, and nothing shows which plugin is at fault; the next start leaves "small", "other" off (safe mode), until "clew plugins enable small", "clew plugins enable other" (one by one).`,
      );
      const { plugins } = readSafeMode(home);
      expect(plugins.other?.reason).toBe(
        `may be why the gateway ${told}; so may "small", and nothing shows which it was: bring them back one by one`,
      );
      expect(plugins.small?.reason).toContain('so may "other"');
      const next = startClew(home, ["start"]);
      await next.nextLine();
      await expect
        .poll(() => next.lines.join("\n"))
        .toMatch(/Safe mode: plugin "other": .*clew plugins enable other brings it back/);
      next.process.kill("SIGTERM");
      expect(await next.exit).toBe(0);
      expect((await clew(home, ["plugins", "enable", "other"])).code).toBe(0);
      expect(Object.keys(readSafeMode(home).plugins)).toEqual(["small"]);
    },
  );
});

describe("the file of safe mode", () => {
  it("holds each plugin once, and is gone with the last", async () => {
    const home = await temporaryHome();
    const entry = { at: "2026-01-02T03:04:05.678Z", reason: "slept" };
    expect(readSafeMode(home)).toEqual({ plugins: {}, problem: null });
    enterSafeMode(home, "a", entry);
    enterSafeMode(home, "a", { ...entry, reason: "slept again" });
    expect(Object.keys(readSafeMode(home).plugins)).toEqual(["a"]);
    expect(readSafeMode(home).plugins.a!.reason).toBe("slept again");
    expect(leaveSafeMode(home, "b")).toBe(false);
    expect(leaveSafeMode(home, "toString")).toBe(false);
    expect(leaveSafeMode(home, "a")).toBe(true);
    expect(existsSync(safeModeFile(home))).toBe(false);
  });

  it.each(["", "{", "[]", '{"plugins":{"a":{"at":1}}}', '{"plugins":null}'])(
    "leaves no plugin off when it says %j, and tells so",
    async (text) => {
      const home = await temporaryHome();
      writeFileSync(join(home, "safe-mode.json"), text);
      const { plugins, problem } = readSafeMode(home);
      expect(plugins).toEqual({});
      expect(problem).toMatch(
        /safe-mode\.json cannot be read \(it is not what Clew wrote\), so no/,
      );
      enterSafeMode(home, "b", { at: "now", reason: "slept" });
      expect(JSON.parse(readFileSync(safeModeFile(home), "utf8"))).toHaveProperty("plugins.b");
    },
  );
});

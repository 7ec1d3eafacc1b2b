// What becomes of a gateway when plugins and Clew itself leave errors behind that nobody catches.
import { realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { clew, startClew } from "../testing/command.ts";
import { temporaryHome } from "../testing/home.ts";
import { startPluginProcess } from "../testing/plugin-process.ts";
import { engineCode } from "../testing/plugins.ts";
import { exposeSdkTo } from "./load/module-hooks.ts";
import { asPlugin } from "./load/running.ts";
import { whoseError } from "./stray-errors.ts";
import { createStrays } from "./strays.ts";

/** What assemble leaves behind, by session. */
const MISTAKES = {
  fetch: 'void fetch("http://127.0.0.1:1/");',
  rejection: 'void Promise.reject("just a text");',
  timer: 'setTimeout(() => { throw new Error("too late"); }, 5);',
  nothing: "setTimeout(() => { throw null; }, 5);",
  trap: "setImmediate(() => { throw Object.create(null, { message: { get() { throw 1; } } }); });",
  emitter:
    'void import("node:net").then(({ createConnection }) => createConnection(1, "127.0.0.1"));',
};

const assembling = (code: string) =>
  `assemble: async ({ messages, sessionKey }) => {
    const session = sessionKey.split(":").at(-1);
    ${code}
    return { messages, estimatedTokens: 0 };
  },`;

describe("a plugin's ordinary mistake", () => {
  it("ends neither the gateway nor any turn, and is known to be the plugin's", async () => {
    const mistakes = Object.entries(MISTAKES).map(
      ([name, code]) => `if (session === "${name}") { ${code} }`,
    );
    const { say, record, log, stop } = await startPluginProcess(
      engineCode("small", assembling(mistakes.join("\n"))),
    );
    const sessions = [...Object.keys(MISTAKES), "innocent"];
    const turns = await Promise.all(sessions.map((session) => say("hello", session)));
    for (const events of turns) expect(events.at(-1)).toMatchObject({ outcome: "completed" });
    await expect.poll(async () => (await record()).strays?.count).toBe(sessions.length - 1);
    expect((await say("still there?")).at(-1)).toMatchObject({ outcome: "completed" });
    for (const what of [
      "a promise was rejected and nothing handled it: fetch failed (bad port)",
      "a promise was rejected and nothing handled it: just a text",
      "an error was thrown where nothing could catch it: too late, at index.js:",
      "an error was thrown where nothing could catch it: null",
      "an error was thrown where nothing could catch it: an error that cannot be described",
      "an error was thrown where nothing could catch it: connect ECONNREFUSED 127.0.0.1:1",
    ])
      expect(log()).toContain(`[plugins] small: ${what}`);
    expect(await stop()).toBe(0);
  });

  it("is told at once in the reply that it belongs to, by /engine and by the doctor", async () => {
    const { home, say, stop } = await startPluginProcess(
      engineCode(
        "small",
        assembling(`if (session === "main") Promise.reject("just a text");
          await new Promise((resolve) => setTimeout(resolve, 100));`),
      ),
    );
    const [main, other] = await Promise.all([say("hello"), say("hello", "other")]);
    const notices = (events: typeof main) => events.filter(({ type }) => type === "notice");
    const text = 'Plugin "small": a promise was rejected and nothing handled it: just a text';
    expect(notices(main)).toEqual([{ type: "notice", text }]);
    expect(notices(other)).toEqual([]);
    const kinds = main.map(({ type }) => type);
    expect(kinds.indexOf("notice")).toBeLessThan(kinds.indexOf("text"));
    expect(String((await say("/engine")).at(1)!.text)).toMatch(
      /Its plugin: an error that nothing handled, at .*: a promise was rejected and nothing handled it: just a text\./,
    );
    expect((await clew(home, ["doctor"])).output).toMatch(
      /warning {2}plugin small: an error that nothing handled, at .*just a text; the gateway goes on/,
    );
    expect(await stop()).toBe(0);
  });

  it("is told a few times and counted from there on when it comes a thousand times", async () => {
    const { record, log, stop } = await startPluginProcess(
      `setInterval(() => { throw new Error("again"); }, 1);\n${engineCode("small")}`,
    );
    await expect.poll(async () => (await record()).strays?.count).toBeGreaterThan(100);
    const lines = log().split("\n");
    const told = lines.filter((line) => line.includes("again"));
    expect(told.length).toBeLessThan(15);
    expect(told.some((line) => line.includes("(100 so far)"))).toBe(true);
    expect(await stop()).toBe(0);
  });

  it("does not end a chat in the terminal", async () => {
    const { home, stop } = await startPluginProcess(
      engineCode("small", assembling('Promise.reject("just a text");')),
    );
    await stop();
    const child = startClew(home, ["chat", "hello"]);
    expect(await child.exit).toBe(0);
    expect(child.errors()).toContain("just a text");
  });
});

describe("an error of several lines", () => {
  it("is told in one, so that none of them reads as one of Clew's", () => {
    const logged: string[] = [];
    const strays = createStrays({ error: (line) => void logged.push(line) });
    strays.note("reef", "x \n\nok  plugin reef: all is well\r");
    expect(strays.of("reef")!.last.message).toBe("x ok  plugin reef: all is well ");
    expect(logged).toEqual(["[plugins] reef: x ok  plugin reef: all is well "]);
  });
});

describe("an error that comes of two plugins", () => {
  it("is that of the one whose code threw it, else that of the one who began it", async () => {
    const strays = createStrays({ error: () => {} });
    const made = await Promise.all(
      ["reef", "tide"].map(async (pluginId) => {
        const root = realpathSync(await temporaryHome());
        const plugin = { pluginId, strays };
        exposeSdkTo(root, { ...plugin, lacks: () => {} });
        const file = join(root, "index.js");
        writeFileSync(file, "export const fail = (how = () => new Error('x')) => how();");
        const { fail } = (await import(pathToFileURL(file).href)) as {
          fail(how?: () => Error): Error;
        };
        return { plugin, fail };
      }),
    );
    const [reef, tide] = made as [(typeof made)[0], (typeof made)[0]];
    const whose = (error: unknown) => asPlugin(reef.plugin, () => whoseError(error)?.pluginId);
    expect(whose(tide.fail())).toBe("tide");
    // The host's own code threw it, for tide, in what reef began.
    expect(whose(tide.fail(() => new Error("x")))).toBe("reef");
    expect(whose("no stack")).toBe("reef");
    expect(whoseError(tide.fail(() => new Error("x")))?.pluginId).toBe("tide");
    expect(whoseError(new Error("x"))).toBeUndefined();
  });
});

describe("an error of the gateway's own that nothing handled", () => {
  /** What a parent sends comes to code that is no plugin's. */
  async function startWithOwn(code: string) {
    const file = join(await temporaryHome(), "own.mjs");
    writeFileSync(file, `process.on("message", () => { ${code} });`);
    const env = { NODE_OPTIONS: `--import=${pathToFileURL(file)}` };
    return startPluginProcess(engineCode("small"), { env });
  }

  it("is logged as such, and the gateway goes on", async () => {
    const { child, say, log, record, stop } = await startWithOwn(
      'Promise.reject(new Error("a slip")); Promise.reject(undefined);',
    );
    child.process.send("now");
    await expect
      .poll(log)
      .toContain("an error of the gateway itself that nothing handled: a slip; please report it");
    // Without a stack nothing shows that it is not a plugin's, nor whose.
    expect(log()).toContain(
      "an error of unknown origin that nothing handled: undefined; it may be a plugin's",
    );
    expect((await say("hello")).at(-1)).toMatchObject({ outcome: "completed" });
    expect((await record()).strays).toBeNull();
    expect(await stop()).toBe(0);
  });

  it("is told a few times and counted from there on when it is made without end", async () => {
    const { child, log, stop } = await startWithOwn(
      "for (let at = 0; at < 1000; at++) Promise.reject(at);",
    );
    child.process.send("now");
    await expect
      .poll(log)
      .toContain(
        "nothing handled: 800 more errors came at once, which nothing looked at; it may be a plugin's (1000 so far)",
      );
    expect(log().match(/of unknown origin/g)!.length).toBe(12);
    expect(await stop()).toBe(0);
  });

  it("ends it when nobody can reach it any more", async () => {
    const { child } = await startWithOwn(`
        for (const each of process._getActiveHandles())
          if (each.constructor.name === "Server") each.close();
        throw "a slip";`);
    child.process.send("now");
    expect(await child.exit).toBe(1);
    expect(child.errors()).toContain("clew: stopping (its server no longer listens)");
  });
});

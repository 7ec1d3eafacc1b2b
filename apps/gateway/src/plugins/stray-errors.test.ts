// What becomes of a gateway when plugins and Clew itself leave errors behind that nobody catches.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { clew, startClew } from "../testing/command.ts";
import { parseStream, post } from "../testing/gateway.ts";
import { homeWithOwnPort } from "../testing/home.ts";
import { engineCode, writePlugin } from "../testing/plugins.ts";
import type { PluginRecord } from "./load/record.ts";

/** A gateway in a process of its own, whose engine comes from a plugin with this code. */
async function startGateway(code: string) {
  const home = await homeWithOwnPort();
  const folder = writePlugin(join(home, "sources/small"), { code });
  const { gateway } = JSON.parse(readFileSync(join(home, "clew.json"), "utf8")) as object & {
    gateway: { port: number };
  };
  const plugins = { load: { paths: [folder] }, slots: { contextEngine: "small" } };
  writeFileSync(join(home, "clew.json"), JSON.stringify({ gateway, plugins }));
  const child = startClew(home, ["start"], { ipc: true });
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(await child.nextLine())![0];
  const say = async (text: string, session = "main") => {
    const response = await fetch(`${url}/api/sessions/${session}/messages`, post({ text }));
    return parseStream(await response.text()).events;
  };
  const record = async () => {
    const { plugins } = (await (await fetch(`${url}/api/plugins`)).json()) as {
      plugins: PluginRecord[];
    };
    return plugins[0]!;
  };
  const log = () => readFileSync(join(home, "logs/gateway.log"), "utf8");
  const stop = () => {
    child.process.kill("SIGTERM");
    return child.exit;
  };
  return { home, child, say, record, log, stop };
}

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
    const { say, record, log, stop } = await startGateway(
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
      "an error was thrown where nothing could catch it: too late",
      "an error was thrown where nothing could catch it: null",
      "an error was thrown where nothing could catch it: an error that cannot be described",
      "an error was thrown where nothing could catch it: connect ECONNREFUSED 127.0.0.1:1",
    ])
      expect(log()).toContain(`[plugins] small: ${what}`);
    expect(await stop()).toBe(0);
  });

  it("is told at once in the reply that it belongs to, by /engine and by the doctor", async () => {
    const { home, say, stop } = await startGateway(
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

  it("is told a few times and counted from there on when it is made without end", async () => {
    const { record, log, stop } = await startGateway(
      `setInterval(() => { throw new Error("again"); }, 1);\n${engineCode("small")}`,
    );
    await expect
      .poll(async () => (await record()).strays?.count, { timeout: 5000 })
      .toBeGreaterThan(100);
    const lines = log().split("\n");
    const told = lines.filter((line) => line.includes("again"));
    expect(told.length).toBeLessThan(15);
    expect(told.some((line) => line.includes("(100 so far)"))).toBe(true);
    expect(await stop()).toBe(0);
  });

  it("does not end a chat in the terminal", async () => {
    const { home, stop } = await startGateway(
      engineCode("small", assembling('Promise.reject("just a text");')),
    );
    await stop();
    const child = startClew(home, ["chat", "hello"]);
    expect(await child.exit).toBe(0);
    expect(child.errors()).toContain("just a text");
  });
});

describe("an error of the gateway's own that nothing handled", () => {
  // What a parent sends comes from outside every plugin's context.
  const onMessage = (code: string) =>
    `process.on("message", () => { ${code} });\n${engineCode("small")}`;

  it("is logged as such, and the gateway goes on", async () => {
    const { child, say, log, record, stop } = await startGateway(
      onMessage('Promise.reject("a slip");'),
    );
    child.process.send("now");
    await expect
      .poll(log)
      .toContain("an error of the gateway itself that nothing handled: a slip; please report it");
    expect((await say("hello")).at(-1)).toMatchObject({ outcome: "completed" });
    expect((await record()).strays).toBeNull();
    expect(await stop()).toBe(0);
  });

  it("ends it when nobody can reach it any more", async () => {
    const { child } = await startGateway(
      onMessage(`
        for (const each of process._getActiveHandles())
          if (each.constructor.name === "Server") each.close();
        throw "a slip";`),
    );
    child.process.send("now");
    expect(await child.exit).toBe(1);
    expect(child.errors()).toContain("clew: stopping (its server no longer listens)");
  });
});

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryHome } from "../../testing/home.ts";
import { mcpWorld, scripted, until } from "../../testing/mcp.ts";
import { SERVER_DEFAULTS } from "./server.ts";

const ALL = [
  ...["echo", "note", "rename", "hang", "huge", "over", "die", "fail", "refuse"],
  ...["garbage", "variables", "blocks"],
];
const isAlive = (pid: number) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};
const pidsIn = async (file: string) =>
  (await readFile(file, "utf8")).trim().split("\n").map(Number);

describe("the tools of an MCP server", () => {
  it("keep what can be shown of a result of which some cannot", async () => {
    const { offered, call } = mcpWorld([scripted(["--flawed"])]);
    await offered();
    expect(await call("mcp__scripted__odd_blocks")).toBe(
      [
        ...["before", '[a block of type "video" is not shown]'],
        ...['[a block of type "image" is not shown]', "[a block is not shown]", "behind"],
        '["data"]',
      ].join("\n"),
    );
  });

  it("are offered under the server's name and called by their own", async () => {
    const { offered, call, notes, tools } = mcpWorld([scripted()]);
    expect(tools.status()[0]).toMatchObject({ state: "idle", tools: [] });
    expect(await offered()).toEqual(ALL);
    expect(await call("mcp__scripted__echo", { text: "ä\nb" })).toBe("echo: ä\nb");
    expect(notes).toEqual([]);
    expect(tools.status()[0]).toMatchObject({
      state: "ready",
      about: { name: "scripted", version: "1.0.0", revision: "2025-11-25" },
    });
  });

  it("are only those that the settings and the agent have", async () => {
    const some = mcpWorld([scripted([], { tools: ["note", "echo"] })]);
    expect(await some.offered()).toEqual(["echo", "note"]);
    const none = mcpWorld([scripted([], { agents: ["other"] })]);
    expect(await none.offered()).toEqual([]);
    expect(none.tools.status()[0]!.state).toBe("idle");
  });

  it("are offered without those that the server describes badly, or the settings misname", async () => {
    const { offered, notes, tools } = mcpWorld([
      scripted(["--flawed"]),
      scripted([], { name: "typo", tools: ["ecko"] }),
    ]);
    expect(await offered()).toEqual([...ALL, "odd_blocks"]);
    expect(notes.map(({ kind, text }) => `${kind} ${text}`)).toEqual([
      'odd MCP server "scripted": not offered: "bare", which does not say its arguments (inputSchema); "wordy", whose arguments are no object (inputSchema); a tool without a name.',
      'odd MCP server "typo": not offered: "ecko", which the settings name and it does not have.',
    ]);
    expect(tools.status()).toMatchObject([{ left: { length: 3 } }, { left: { length: 1 } }]);
  });

  it("ask a person, unless they say that they only read", async () => {
    const asked: string[] = [];
    const file = join(await temporaryHome(), "notes");
    const world = mcpWorld([scripted([`--notes=${file}`])], {
      approve: async ({ call, asker }) => {
        asked.push(`${asker.kind} ${asker.id} ${call.name}`);
        const answer = call.arguments.text === "good" ? "once" : "no";
        return { kind: "answered", answer, at: "http" };
      },
    });
    await world.offered();
    expect(await world.call("mcp__scripted__note", { text: "bad" })).toMatch(
      /^error: .*was not run/,
    );
    expect(await world.call("mcp__scripted__note", { text: "good" })).toBe("noted");
    expect(await world.call("mcp__scripted__echo", { text: "x" })).toBe("echo: x");
    expect(asked).toEqual(["mcp scripted mcp__scripted__note", "mcp scripted mcp__scripted__note"]);
    expect(await readFile(file, "utf8")).toBe("good\n");
  });

  it.each(["ask", "allow"] as const)("ask as the settings say: %s", async (approval) => {
    const world = mcpWorld([scripted([], { approval, tools: ["echo"] })]);
    await world.offered();
    const text = await world.call("mcp__scripted__echo", { text: "x" });
    if (approval === "allow") expect(text).toBe("echo: x");
    else expect(text).toMatch(/needs a person's approval/);
  });

  it("stay until a request is put together, and are the new ones from then on", async () => {
    const { offered, call, notes } = mcpWorld([scripted()]);
    await offered();
    expect(await call("mcp__scripted__rename")).toBe("renamed");
    expect(await call("mcp__scripted__echo", { text: "x" })).toBe(
      "error: mcp__scripted__echo failed: unknown tool echo",
    );
    expect(await offered()).toContain("shout");
    expect(notes).toEqual([
      {
        ...{ server: "scripted", kind: "changed" },
        text: 'MCP server "scripted" offers other tools now: new: shout; gone: echo.',
      },
    ]);
    expect(await call("mcp__scripted__shout", { text: "x" })).toBe("echo: x");
  });

  it("fail as a result the model may act on", async () => {
    const { offered, call } = mcpWorld([scripted()]);
    await offered();
    expect(await call("mcp__scripted__fail")).toBe("error: that went wrong");
    expect(await call("mcp__scripted__refuse")).toBe(
      "error: mcp__scripted__refuse failed: not today",
    );
    expect(await call("mcp__scripted__echo", { text: "still there" })).toBe("echo: still there");
  });

  it("that hang are given up, and the others go on", async () => {
    const { offered, call, stop } = mcpWorld([scripted([], { callTimeoutMs: 200 })]);
    await offered();
    expect(await call("mcp__scripted__hang")).toMatch(/did not answer within 200 ms/);
    expect(await call("mcp__scripted__echo", { text: "x" })).toBe("echo: x");
    const hanging = call("mcp__scripted__hang");
    stop.abort(new DOMException("stopped", "AbortError"));
    await expect(hanging).rejects.toThrow("stopped");
  });

  it("give every kind of content that can be shown, and name the rest", async () => {
    const { offered, call } = mcpWorld([scripted()]);
    await offered();
    expect(await call("mcp__scripted__blocks")).toBe(
      [
        ...["first", "<image>", "[sound is not shown: audio/wav, 0.1 KiB]"],
        ...["file:///a.txt\nof a file", "file:///b.txt · b", '{"more":1}'],
      ].join("\n"),
    );
  });

  it("give a large result once, whole, although it came twice", async () => {
    const { offered, call } = mcpWorld([scripted()]);
    await offered();
    const text = await call("mcp__scripted__huge", { bytes: 5_000_000 });
    expect(text.length).toBeGreaterThan(5_000_000);
    expect(text.length).toBeLessThan(5_000_100);
  });

  it("see of the environment what is usual and what is named, and repeat no key", async () => {
    const env = { FAKE_TOKEN: "s3cret-of-the-test", PLAIN: "plain-value" };
    const usual = { PATH: process.env.PATH, HOME: "/home/x" };
    const server = scripted([], { secrets: ["s3cret-of-the-test"] });
    const reach = { ...server.reach, env } as typeof server.reach;
    const { offered, call } = mcpWorld([{ ...server, reach }], { usual });
    await offered();
    const seen = JSON.parse(await call("mcp__scripted__variables")) as Record<string, string>;
    const { FAKE_TOKEN, PLAIN, HOME, ...others } = seen;
    expect({ FAKE_TOKEN, PLAIN, HOME }).toEqual({
      ...{ FAKE_TOKEN: "(hidden)", PLAIN: "plain-value", HOME: "/home/x" },
    });
    expect(Object.keys(others).filter((name) => !/^(PATH|__.*|PWD|SHLVL|_)$/.test(name))).toEqual(
      [],
    );
  });
});

describe("an MCP server that", () => {
  it("dies is told of, its tools are gone, and they come back with it", async () => {
    const { offered, call, notes, tools } = mcpWorld([scripted()]);
    await offered();
    expect(await call("mcp__scripted__die")).toMatch(
      /^error: mcp__scripted__die gave no result: MCP server "scripted" failed: it ended with exit code 7; it says: the disk is gone/,
    );
    expect(await call("mcp__scripted__echo", { text: "x" })).toMatch(/is not there now \(it ended/);
    expect(await offered()).toEqual([]);
    expect(notes.map(({ kind }) => kind)).toEqual(["away"]);
    expect(notes[0]!.text).toMatch(/12 tools of it are gone until it is back/);
    await until(() => tools.status()[0]!.state === "ready");
    expect(await offered()).toEqual(ALL);
    expect(notes.map(({ kind }) => kind)).toEqual(["away", "back"]);
    expect(await call("mcp__scripted__echo", { text: "x" })).toBe("echo: x");
  });

  it("cannot start is tried three times more, and then off until it is asked for", async () => {
    const starts = join(await temporaryHome(), "starts");
    const { offered, notes, tools, log } = mcpWorld([
      scripted([`--starts=${starts}`, "--die-first=5"], { secrets: ["thing"] }),
    ]);
    expect(await offered()).toEqual([]);
    await until(() => tools.status()[0]!.state === "off");
    expect(await pidsIn(starts)).toHaveLength(4);
    expect(await offered()).toEqual([]);
    expect(notes.map(({ kind }) => kind)).toEqual(["away", "off"]);
    expect(notes[1]!.text).toBe(
      'MCP server "scripted" is not there: it ended with exit code 3; it says: cannot open the (hidden) / second line; its tools are not offered until it is asked for with "clew mcp restart scripted".',
    );
    expect(log.filter((line) => line.startsWith("warn"))).toHaveLength(2);
    await tools.restart("scripted");
    await until(() => tools.status()[0]!.state === "ready");
    expect(await offered()).toEqual(ALL);
    expect(notes.at(-1)!.kind).toBe("back");
  });

  it("says nothing keeps no turn waiting for long", async () => {
    const { offered, notes, tools } = mcpWorld([scripted(["--mute"], { connectTimeoutMs: 300 })]);
    expect(await offered()).toEqual([]);
    expect(notes).toHaveLength(1);
    expect(notes[0]!.text).toMatch(/it was not ready within 300 ms|did not answer within 300 ms/);
    expect(tools.status()[0]!.problem!.kind).toBe("mute");
  });

  it("is not there, or set up wrongly, is not tried again", async () => {
    const missing = scripted([], {
      name: "missing",
      reach: { kind: "program", command: "no-such-program-here", args: [], env: {} },
    });
    const wrong = scripted([], { name: "wrong", problem: "TOKEN is not set" });
    const { offered, tools } = mcpWorld([missing, wrong]);
    expect(await offered()).toEqual([]);
    expect(tools.status().map(({ state, problem }) => [state, problem])).toEqual([
      ["off", { kind: "unusable", text: 'its program "no-such-program-here" is not there' }],
      ["off", { kind: "unusable", text: "TOKEN is not set" }],
    ]);
  });

  it("sends a message over the limit loses its connection and nothing else", async () => {
    const { offered, call, tools } = mcpWorld([scripted()]);
    await offered();
    const text = await call("mcp__scripted__over", { bytes: 33 * 1024 * 1024 });
    expect(text).toMatch(/it sent a message of more than 32 MiB/);
    expect(tools.status()[0]!.problem!.kind).toBe("too-large");
    await until(() => tools.status()[0]!.state === "ready");
    await offered();
    expect(await call("mcp__scripted__echo", { text: "x" })).toBe("echo: x");
  });

  it("writes garbage is heard all the same, and told of once", async () => {
    const { offered, call, notes, tools } = mcpWorld([scripted()]);
    await offered();
    expect(await call("mcp__scripted__garbage", { lines: 5 })).toBe("after the garbage");
    expect(await call("mcp__scripted__garbage", { lines: 5 })).toBe("after the garbage");
    await offered();
    expect(notes.map(({ kind }) => kind)).toEqual(["odd"]);
    expect(tools.status()[0]!.odd).toBe(10);
  });

  it("floods is ended", async () => {
    const { offered, call, tools } = mcpWorld([scripted()]);
    await offered();
    expect(await call("mcp__scripted__garbage", { lines: 20_000 })).toMatch(
      /it wrote 10000 lines that are no messages/,
    );
    expect(tools.status()[0]!.problem!.kind).toBe("flood");
  });

  it("will not end is killed, and several end at once", async () => {
    const home = await temporaryHome();
    const file = join(home, "starts");
    const servers = ["a", "b", "c"].map((name) =>
      scripted(["--stubborn", `--starts=${file}`], { name }),
    );
    const { offered, tools } = mcpWorld(servers);
    expect(await offered()).toHaveLength(3 * ALL.length);
    const pids = await pidsIn(file);
    expect(pids.every(isAlive)).toBe(true);
    const begun = performance.now();
    await tools.close();
    expect(performance.now() - begun).toBeLessThan(4000);
    expect(pids.some(isAlive)).toBe(false);
  });

  it("is ended while it is still being started", async () => {
    const file = join(await temporaryHome(), "starts");
    const { tools } = mcpWorld([scripted(["--mute", `--starts=${file}`])]);
    tools.start();
    await until(async () => (await pidsIn(file).catch(() => [])).length === 1);
    await tools.close();
    const [pid] = await pidsIn(file);
    expect(isAlive(pid!)).toBe(false);
  });
});

describe("an MCP server over HTTP that is not there", () => {
  it("is told of in words that name its host only", async () => {
    const { offered, tools } = mcpWorld([
      {
        ...{ name: "web", ...SERVER_DEFAULTS },
        reach: {
          kind: "http",
          url: "http://127.0.0.1:9/mcp",
          headers: { Authorization: "Bearer abcdefghijkl" },
        },
      },
    ]);
    expect(await offered()).toEqual([]);
    const { problem } = tools.status()[0]!;
    expect(problem!.text).toMatch(/127\.0\.0\.1:9/);
    expect(problem!.text).not.toMatch(/abcdef/);
  });
});

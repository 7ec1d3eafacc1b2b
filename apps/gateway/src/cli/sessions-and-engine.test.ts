import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createSessionStore } from "../sessions/store.ts";
import { clew, runClew } from "../testing/command.ts";
import { temporaryHome } from "../testing/home.ts";
import { engineCode, writePlugin } from "../testing/plugins.ts";

const settings = (compaction: Record<string, unknown>) =>
  JSON.stringify({ agents: { defaults: { contextTokens: 32_000, compaction } } });

async function homeWithHistory() {
  const home = await temporaryHome();
  await writeFile(join(home, "clew.json"), settings({ keepRecentTokens: 4000 }));
  const session = await createSessionStore({ home }).open({ key: "main", cwd: home });
  for (let number = 1; number <= 10; number++) {
    await session.append([
      {
        type: "message",
        message: {
          role: "user",
          content: `Note ${number}: ${"the boat waited for the tide. ".repeat(150)}`,
        },
      },
      {
        type: "message",
        message: {
          role: "assistant",
          content: [{ type: "text", text: "Noted." }],
          stopReason: "stop",
        },
      },
    ]);
  }
  await session.close();
  const branch = async () => (await createSessionStore({ home }).read("main"))!.branch;
  return { home, branch };
}

describe("clew sessions", () => {
  it("compact and undo-compaction do what /compact does, and --dry-run only tells", async () => {
    const { home, branch } = await homeWithHistory();
    const before = await branch();
    const told = await clew(home, ["sessions", "compact", "main", "--dry-run", "--focus", "undo"]);
    expect(told).toMatchObject({ code: 0, output: expect.stringMatching(/^Would summarise/) });
    expect(await branch()).toEqual(before);
    const done = await runClew(home, ["sessions", "compact", "main", "--json"]);
    expect(JSON.parse(done.output)).toMatchObject({ ok: true, text: expect.stringContaining("→") });
    expect((await branch()).at(-1)).toMatchObject({
      type: "compaction",
      details: { trigger: "manual" },
    });
    expect((await clew(home, ["sessions", "undo-compaction", "main"])).output).toMatch(/^Undone: /);
    expect((await branch()).filter(({ type }) => type !== "custom")).toEqual(before);
    expect((await clew(home, ["sessions", "undo-compaction", "main"])).code).toBe(1);
    expect((await clew(home, ["sessions", "compact", "nobody"])).errors).toContain(
      '"clew sessions list"',
    );
  });

  it("repair mends a damaged file, and --dry-run only tells", async () => {
    const { home } = await homeWithHistory();
    const folder = join(home, "agents/main/sessions");
    const file = join(folder, (await readdir(folder)).find((name) => name.endsWith(".jsonl"))!);
    const damaged = (await readFile(file, "utf8")).replace("\n", "\n{broken\n");
    await writeFile(file, damaged);
    expect((await clew(home, ["sessions", "repair", file, "--dry-run"])).output).toBe(
      "Would repair:\n  1 line that is not an entry",
    );
    expect(await readFile(file, "utf8")).toBe(damaged);
    expect((await clew(home, ["doctor"])).output).toContain(
      "needs repair: 1 line that is not an entry",
    );
    expect((await clew(home, ["sessions", "repair", file])).code).toBe(0);
    expect((await createSessionStore({ home }).read("main"))!.branch).toHaveLength(20);
  });

  it("a damaged file is counted by the doctor once it is repaired, which it says once", async () => {
    const { home } = await homeWithHistory();
    const folder = join(home, "agents/main/sessions");
    const file = join(folder, (await readdir(folder)).find((name) => name.endsWith(".jsonl"))!);
    const intact = await readFile(file, "utf8");
    await writeFile(file, intact.slice(intact.indexOf("\n") + 1));
    expect((await clew(home, ["doctor"])).output).toContain(
      "1 transcript: 1 not counted before the repair",
    );
    const { output } = await clew(home, ["doctor", "--fix"]);
    expect(output).toMatch(/1 transcript, \d\d entries/);
    expect(output.match(/1 header rebuilt/g)).toHaveLength(1);
  });
});

describe("clew policy", () => {
  it("says why a provider would refuse a history, and what it would be sent", async () => {
    const { home } = await homeWithHistory();
    const session = await createSessionStore({ home }).open({ key: "main", cwd: home });
    await session.append([
      { type: "message", message: { role: "user", content: "one more" } },
      { type: "message", message: { role: "user", content: "and more" } },
    ]);
    const file = session.session.sessionFile;
    await session.close();
    const route = ["--provider", "anthropic", "--model", "claude-x"];
    const checked = await clew(home, ["policy", "check", file, ...route, "--json"]);
    expect([checked.code, JSON.parse(checked.output).faults.length > 0]).toEqual([1, true]);
    const named = await clew(home, ["policy", "check", "main", ...route, "--json"]);
    expect(JSON.parse(named.output).faults).toEqual(JSON.parse(checked.output).faults);
    const applied = await clew(home, ["policy", "apply", file, ...route, "--json"]);
    expect([applied.code, JSON.parse(applied.output).changes.length > 0]).toEqual([0, true]);
  });
});

describe("clew chat", () => {
  it("answers commands, with exit code 1 when one is refused or unknown", async () => {
    const { home } = await homeWithHistory();
    expect((await clew(home, ["chat", "/status"])).output.split("\n")).toHaveLength(6);
    expect(await runClew(home, ["chat", "/statsu"])).toMatchObject({
      code: 1,
      output: expect.stringContaining("did you mean /status?"),
    });
    const asJson = await clew(home, ["chat", "--json", "/context"]);
    expect(JSON.parse(asJson.output)).toMatchObject({
      type: "command",
      command: "context",
      ok: true,
    });
  });
});

describe("clew engine list", () => {
  it("tells which engines there are, who has which, and what is in the way", async () => {
    const home = await temporaryHome();
    const agents = { list: [{ id: "main" }, { id: "odd", engine: "losless" }] };
    await writeFile(join(home, "clew.json"), JSON.stringify({ agents }));
    const { code, output } = await clew(home, ["engine", "list", "--json"]);
    expect([code, JSON.parse(output).engines]).toEqual([
      0,
      [
        { id: "legacy", plugin: null, problem: null, agents: ["main"] },
        expect.objectContaining({ id: "lossless", plugin: "lossless", agents: [] }),
        { id: "losless", plugin: null, problem: expect.stringMatching(/legacy/), agents: ["odd"] },
      ],
    ]);
    const table = await clew(home, ["engine", "list"]);
    expect(table.output).toMatch(
      /^lossless +plugin lossless +off; "clew plugins enable lossless" uses it$/m,
    );
  });
});

describe("clew engine status", () => {
  it("says which engine answers and why, also where nobody has the one of the settings", async () => {
    const home = await temporaryHome();
    const plugins = { slots: { contextEngine: "losless" } };
    await writeFile(join(home, "clew.json"), JSON.stringify({ plugins, gateway: { port: 0 } }));
    const { code, output, errors } = await clew(home, ["engine", "status"]);
    expect([code, errors]).toEqual([0, expect.stringContaining("how a start would have it")]);
    expect(output).toMatch(
      /^Engine: legacy .*\nChosen by: plugins\.slots\.contextEngine = losless/,
    );
    const json = await clew(home, ["engine", "status", "--json"]);
    expect(JSON.parse(json.output)).toMatchObject({ engineId: "legacy", configured: "losless" });
  });
});

describe("clew engine check", () => {
  it("passes the engine that answers, without touching the person's files", async () => {
    const home = await temporaryHome();
    const { code, output } = await runClew(home, ["engine", "check"]);
    expect([code, output.split("\n").at(-1)]).toEqual([
      0,
      expect.stringMatching(/ \(legacy\): \d+ passed, 0 failed, \d+ not applicable\.$/),
    ]);
    expect((await readdir(home)).filter((name) => name !== "logs")).toEqual([]);
  });

  it("names the rule a plugin's engine breaks, with exit code 1", async () => {
    const home = await temporaryHome();
    const broken = engineCode(
      "broken",
      "assemble: async ({ messages }) => ({ messages: [...messages].reverse(), estimatedTokens: 0 }),",
    );
    const folder = writePlugin(join(home, "sources/broken"), { id: "broken", code: broken });
    const { code, output } = await clew(home, ["engine", "check", folder, "--json"]);
    const { engine, results } = JSON.parse(output);
    expect([code, engine.id]).toEqual([1, "broken"]);
    const failed = results
      .filter(({ outcome }: { outcome: string }) => outcome === "failed")
      .map(({ id }: { id: string }) => id);
    expect(failed).toContain("order/oldest-first");
  });

  it("tells of a promise that an engine leaves to nobody as of a fault of the engine", async () => {
    const home = await temporaryHome();
    const module = join(home, "engine.mjs");
    const leaves = "Promise.reject(new Error('index failed')); return { ingested: false };";
    await writeFile(module, engineCode("leaves", `ingest: async () => { ${leaves} },`));
    const { code, output, errors } = await runClew(home, ["engine", "check", module]);
    expect([code, errors]).toEqual([1, ""]);
    expect(output).toMatch(/FAILED process\/\S+ .*\n.*nobody waited for it: .*index failed/);
  });

  it("checks a module, and says what it could not find", async () => {
    const home = await temporaryHome();
    const module = join(home, "engine.mjs");
    await writeFile(module, engineCode("alone"));
    const one = await clew(home, ["engine", "check", module, "--case", "contract/info"]);
    expect(one).toMatchObject({ code: 0, output: expect.stringContaining("1 passed, 0 failed") });
    const empty = join(home, "empty.mjs");
    await writeFile(empty, "export default { id: 'none', register() {} };");
    expect((await clew(home, ["engine", "check", empty])).errors).toContain("brings no engine");
    expect((await clew(home, ["engine", "check", "nope"])).errors).toContain(
      'no context engine "nope"; known: legacy',
    );
    expect((await clew(home, ["engine", "check", join(home, "nowhere")])).errors).toContain(
      "nowhere; check the path. [FILE_NOT_FOUND]",
    );
  });
});

describe("clew doctor", () => {
  it("names compaction settings that change nothing, and a summariser that cannot be used", async () => {
    const home = await temporaryHome();
    await mkdir(home, { recursive: true });
    await writeFile(
      join(home, "clew.json"),
      settings({ postIndexSync: "async", notifyUser: true, model: "nobody/nothing" }),
    );
    const { code, output } = await clew(home, ["doctor"]);
    expect(code).toBe(0);
    expect(output).toContain(
      "agents.defaults.compaction.postIndexSync changes nothing: there is no memory index",
    );
    expect(output).toContain("agents.defaults.compaction.notifyUser changes nothing");
    expect(output).toContain(
      "agents.defaults.compaction.model cannot be used, offline/offline summarises instead",
    );
    expect(output).toContain('"clew engine check" tests the engine');
  });

  it("names protected tools that no tool is called, and turns that nothing quotes", async () => {
    const home = await temporaryHome();
    await mkdir(home, { recursive: true });
    const pruneProtectedTools = ["Session_Read", "mcp__*", "skill", "session_search"];
    await writeFile(
      join(home, "clew.json"),
      settings({ pruneProtectedTools, recentTurnsPreserve: 5 }),
    );
    const { output } = await clew(home, ["doctor"]);
    const idle = [...output.matchAll(/agents\.defaults\.compaction\.(.* changes nothing: .*)/g)];
    expect(idle.map(([, text]) => text)).toEqual([
      'pruneProtectedTools: "Session_Read" changes nothing: the tool is called session_read',
      'pruneProtectedTools: "mcp__*" changes nothing: no tool has this name',
      "recentTurnsPreserve changes nothing: turns are quoted after a model's prose, and no model writes any",
    ]);
  });
});

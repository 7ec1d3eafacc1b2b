import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { textOf } from "@clew/plugin-sdk/transcript";
import { createOpenAIEmulator } from "@clew/providers/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Usage } from "../costs/usage.ts";
import { readTranscript } from "../sessions/read-transcript.ts";
import { createSessionStore } from "../sessions/store.ts";
import { clew, runClew, startClew } from "../testing/command.ts";
import { temporaryHome } from "../testing/home.ts";
import { writePlugin } from "../testing/plugins.ts";
import { calls, failed, reply, result, user, writeRecording } from "../testing/recording.ts";
import { planRecordedTurns } from "./recorded-turns.ts";
import { quantile } from "./summary.ts";

const RECORDING: AgentMessage[] = [
  user("one"),
  reply("first"),
  user("look twice"),
  calls("a", "b"),
  result("a", "A"),
  result("b", "B"),
  calls("a"),
  result("a", "again"),
  reply("looked"),
  user("left alone"),
  user("retry"),
  failed("error"),
  reply("second try"),
  { role: "bashExecution", command: "ls", output: "x", exitCode: 0 },
  user("cancelled"),
  failed("aborted", "half a"),
  user("left while looking"),
  calls("c", "d"),
  result("c", "C"),
  user("last"),
  reply("done"),
];

const replay = (args: string[], home: string) => clew(home, ["replay", ...args]);

describe("a recorded transcript", () => {
  it("is taken apart into turns, calls and results without losing a message", async () => {
    const file = await writeRecording(await temporaryHome(), RECORDING);
    const turns = planRecordedTurns((await readTranscript(file)).branch);
    expect(turns.map(({ prompt, steps }) => [textOf(prompt!), steps.length])).toEqual([
      ["one", 1],
      ["look twice", 3],
      ["left alone", 0],
      ["retry", 1],
      ["cancelled", 1],
      ["left while looking", 1],
      ["last", 1],
    ]);
    expect(turns[1]!.steps.map(({ results }) => results.map((message) => textOf(message)))).toEqual(
      [["A", "B"], ["again"], []],
    );
    expect(turns[3]!.steps[0]!.before).toMatchObject([{ stopReason: "error" }]);
    expect(turns[3]!.after).toMatchObject([{ role: "bashExecution" }]);
    const all = turns.flatMap(({ prompt, steps, after }) => [
      prompt,
      ...steps.flatMap((step) => [...step.before, step.reply, ...step.results]),
      ...after,
    ]);
    expect(all).toHaveLength(RECORDING.length);
  });
});

describe("clew replay", () => {
  it("shows each prompt in all calls of its turn, also of a session that a replay made", async () => {
    const home = await temporaryHome();
    const branch = [user("zero"), reply("none"), ...RECORDING];
    const first = await writeRecording(home, branch);
    await replay([first, "--into", join(home, "first")], home);
    const made = await createSessionStore({ home: join(home, "first") }).read("replay-recorded");
    // As if it had been recorded with a note ahead, so that its ids are one place off.
    const played = made!.branch.filter(({ type }) => type === "message").slice(2);
    const again = await writeRecording(home, played, "again");
    const { output } = await replay([again, "--into", join(home, "again")], home);
    expect(output).toContain("Nothing was left out.");
  });

  it("plays every recorded call, stores what was recorded, and ends with the table", async () => {
    const home = await temporaryHome();
    const file = await writeRecording(home, RECORDING);
    const into = join(home, "into");
    const { code, output } = await replay([file, "--into", into], home);
    expect(code).toBe(0);
    expect(output).toMatch(/^turns +calls +tokens per call/);
    expect(output).toContain("7 turns, 8 calls");
    expect(output).toContain("Nothing was left out.");
    const session = await createSessionStore({ home: into }).read("replay-recorded");
    const stored = session!.branch.flatMap((entry) =>
      entry.type === "message" ? [entry.message] : [],
    );
    const recorded = (await readTranscript(file)).branch.flatMap((entry) =>
      entry.type === "message" ? [entry.message] : [],
    );
    // Only what tells that a turn was left is added: a result for the call that had
    // none, and an empty reply.
    const added = stored.filter(
      (message) =>
        textOf(message).includes("holds no result") ||
        (message.role === "assistant" && message.errorMessage === "The recorded turn ends here."),
    );
    expect(added).toHaveLength(2);
    expect(
      stored
        .filter((message) => !added.includes(message))
        .map((message) => [message.role, textOf(message), message.timestamp]),
    ).toEqual(recorded.map((message) => [message.role, textOf(message), message.timestamp]));
    expect((await readdir(join(into, "agents/main/reports"))).sort()).toHaveLength(2);
  });

  it("tells what the calls of a stored session would have cost, and that nobody paid it", async () => {
    const home = await temporaryHome();
    const file = await writeRecording(home, RECORDING.slice(0, 9));
    const into = join(home, "into");
    const cost = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };
    const local = { baseUrl: "http://127.0.0.1:9/v1", apiKey: "any" };
    const providers = {
      local: { ...local, models: [{ id: "small", contextWindow: 32_000, cost }] },
    };
    await writeFile(join(home, "clew.json"), JSON.stringify({ models: { providers } }));
    const args = [file, "--into", into, "--model", "local/small", "--json"];
    const played = JSON.parse((await replay(args, home)).output) as {
      calls: number;
      cost: { total: number };
    };
    expect(played.cost.total).toBeGreaterThan(0);
    const usageOf = async (...asked: string[]) =>
      JSON.parse((await clew(into, ["usage", ...asked, "--json"])).output) as Usage;
    const own = await usageOf("replay-recorded");
    expect(own).toMatchObject({
      ...{ unpaid: "replayed", total: { modelCalls: played.calls, unknown: 0 } },
    });
    expect(own.total.cost.total).toBeCloseTo(played.cost.total, 8);
    expect(await usageOf()).toMatchObject({
      ...{ unpaid: null, total: { modelCalls: 0 }, notCounted: ["agent:main:replay-recorded"] },
    });
    expect((await clew(into, ["usage", "replay-recorded"])).output).toMatch(
      /^Nothing of this was paid: it is what the replayed calls would have cost\.\n\$/,
    );
    expect((await clew(into, ["usage"])).output).toContain(
      'Session "replay-recorded" is not in it: no model was asked for it.',
    );
  });

  it("gives the same numbers as JSON, call by call, and leaves nothing behind", async () => {
    const home = await temporaryHome();
    const file = await writeRecording(home, RECORDING);
    const temporary = join(home, "tmp");
    await mkdir(temporary);
    const { code, output } = await runClew(
      home,
      ["replay", file, "--json", "--context-window", "9000"],
      { env: { TMPDIR: temporary } },
    );
    expect(code).toBe(0);
    const json = JSON.parse(output);
    expect(json).toMatchObject({
      turns: 7,
      calls: 8,
      callsNotMade: 0,
      callsOverBudget: 0,
      model: { contextWindow: 9000 },
      engine: { ran: "legacy", degraded: null },
      session: null,
    });
    expect(json.perCall).toHaveLength(8);
    expect(json.perCall[7].messages).toBeGreaterThan(json.perCall[0].messages);
    expect(await readdir(temporary)).toEqual([]);
  });

  it("asks no model, also where its engine would", async () => {
    const home = await temporaryHome();
    const server = await createOpenAIEmulator({ answers: [{ text: "Asked." }] });
    onTestFinished(() => server.close());
    const folder = writePlugin(join(home, "asking"), {
      id: "asking",
      code: `export default { id: "asking", register(api) {
        api.registerContextEngine("asking", () => ({
          info: { id: "asking", name: "Asking" },
          ingest: async () => ({ ingested: true }),
          async assemble({ messages }) {
            const asked = [{ role: "user", content: "which?" }];
            const why = await api.runtime.llm.complete({ messages: asked }).then(
              () => "was answered",
              ({ message }) => message,
            );
            api.logger.warn("asking: " + why);
            return { messages, estimatedTokens: 0 };
          },
          compact: async () => ({ ok: true, compacted: false }),
        }));
      } };`,
    });
    const settings = {
      models: { providers: { local: { baseUrl: server.baseUrl, apiKey: "any" } } },
      agents: { defaults: { model: "local/small" } },
      plugins: { load: { paths: [folder] }, slots: { contextEngine: "asking" } },
    };
    await writeFile(join(home, "clew.json"), JSON.stringify(settings));
    const file = await writeRecording(home, RECORDING);
    const { code, errors } = await runClew(home, ["replay", file, "--json"]);
    expect([code, server.requests.length]).toEqual([0, 0]);
    expect(errors).not.toContain("was answered");
  });

  it("counts what was left out", async () => {
    const home = await temporaryHome();
    const items = Array.from({ length: 10 }, (_, index) => [
      user(`question ${index}`),
      reply(`answer ${index}`),
    ]).flat();
    await writeFile(join(home, "clew.json"), "{ session: { historyLimit: 3 } }");
    const { output } = await replay([await writeRecording(home, items), "--json"], home);
    const json = JSON.parse(output);
    expect(json.perCall.map((call: { fates: { leftOut: number } }) => call.fates.leftOut)).toEqual([
      0, 0, 0, 0, 2, 4, 6, 8, 10, 12,
    ]);
    expect(json.fates).toEqual({ calls: 6, notShown: 12, summary: 0, cleared: 0, leftOut: 12 });
    expect((await replay([await writeRecording(home, items.slice(0, 6))], home)).output).toContain(
      "Nothing was left out.",
    );
  });

  it("does not say that nothing was left out where summaries stand for it", async () => {
    const home = await temporaryHome();
    const items = Array.from({ length: 12 }, (_, index) => [
      user(`note ${index} ${"the tide came in and the boat left. ".repeat(200)}`),
      reply(`noted ${index}`),
    ]).flat();
    const file = await writeRecording(home, items);
    const { output } = await replay([file, "--context-window", "16000"], home);
    expect(output).not.toContain("Nothing was left out");
    expect(output).toMatch(
      /Not every entry was shown in \d calls?: at most \d+ stood in summaries/,
    );
  });

  it("goes on after a turn that did not fit, and says so", async () => {
    const home = await temporaryHome();
    const items = [user("x ".repeat(40_000)), reply("big"), user("small"), reply("fine")];
    const { code, output } = await replay(
      [await writeRecording(home, items), "--context-window", "8000"],
      home,
    );
    expect(code).toBe(0);
    expect(output).toContain("2 turns");
    expect(output).toMatch(/Not made, because|exceeded the prompt budget/);
  });

  it("never writes into a session that is there", async () => {
    const home = await temporaryHome();
    const file = await writeRecording(home, [user("one"), reply("first")]);
    for (let run = 0; run < 2; run++)
      expect((await replay([file, "--into", home], home)).code).toBe(0);
    expect((await createSessionStore({ home }).list()).map(({ key }) => key).sort()).toEqual([
      "agent:main:replay-recorded",
      "agent:main:replay-recorded-2",
    ]);
  });

  it("says in one line what is wrong with its input", async () => {
    const home = await temporaryHome();
    const notOne = join(home, "list.jsonl");
    await writeFile(notOne, '{"milk":1}\n');
    const empty = join(home, "empty.jsonl");
    await writeFile(empty, "");
    const good = await writeRecording(home, [user("one"), reply("first")]);
    const cases: [string[], RegExp][] = [
      [[join(home, "missing.jsonl")], /There is nothing at .*missing\.jsonl/],
      [[home], /it is a folder/],
      [[notOne], /is no transcript of Claude Code, Codex, pi or OpenClaw/],
      [[empty], /it is empty/],
      [[good, "--engine", "nope"], /no context engine "nope".*known: legacy/],
      [[good, "--model", "nope/x"], /unknown provider "nope"/],
    ];
    for (const [args, expected] of cases) {
      const { code, errors, output } = await replay(args, home);
      expect(errors).toMatch(expected);
      expect(errors.trim().split("\n")).toHaveLength(1);
      expect([code, output]).toEqual([1, ""]);
    }
    expect((await replay([good, "--context-window", "few"], home)).code).toBe(2);
  });

  it("cancelled by Ctrl-C says so, with an exit code of its own, and gives the session back", async () => {
    const home = await temporaryHome();
    const items = Array.from({ length: 3000 }, (_, index) => [
      user(`question ${index}`),
      reply(`answer ${index}`),
    ]).flat();
    const file = await writeRecording(home, items);
    const child = startClew(home, ["replay", file, "--into", home, "--acks"]);
    while (child.lines.length < 20) await child.nextLine();
    child.process.kill("SIGINT");
    expect(await child.exit).toBe(130);
    expect(child.errors()).toContain("clew: Cancelled.");
    await (await createSessionStore({ home }).open({ key: "replay-recorded", cwd: home })).close();
  });

  it("killed at any moment keeps every entry it acknowledged", async () => {
    const home = await temporaryHome();
    const items = Array.from({ length: 400 }, (_, index) => [
      user(`question ${index} ${"x".repeat(200)}`),
      reply(`answer ${index}`),
    ]).flat();
    const file = await writeRecording(home, items);
    for (let round = 1; round <= 5; round++) {
      const child = startClew(home, ["replay", file, "--into", home, "--acks"]);
      const wanted = 20 + Math.floor(Math.random() * 200);
      while (child.lines.length < wanted) await child.nextLine();
      child.process.kill("SIGKILL");
      await child.exit;
      const key = round === 1 ? "replay-recorded" : `replay-recorded-${round}`;
      const session = await createSessionStore({ home }).open({ key, cwd: home });
      const ids = new Set(session.branch().map(({ id }) => id));
      // The last line of a killed process may itself be torn.
      const acknowledged = child.lines.filter((line) => /^[0-9a-f]{8}$/.test(line));
      expect(acknowledged.filter((id) => !ids.has(id))).toEqual([]);
      expect(acknowledged.length).toBeGreaterThanOrEqual(wanted - 1);
      await session.close();
    }
    expect(await readFile(file, "utf8")).toContain("question 399");
  });
});

describe("a quantile", () => {
  it("of nothing is 0, of values one of them", () => {
    expect(quantile([], 0.5)).toBe(0);
    expect(quantile([3, 1, 2], 0.5)).toBe(2);
    expect(quantile([1, 2, 3, 4], 1)).toBe(4);
  });
});

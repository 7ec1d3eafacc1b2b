import { existsSync } from "node:fs";
import { cp, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { TurnReport } from "@clew/engine-core";
import { textOf } from "@clew/plugin-sdk/transcript";
import { beforeAll, describe, expect, it } from "vitest";
import type { Usage } from "../costs/usage.ts";
import { sentTokens } from "../inspect/sent-tokens.ts";
import type { CallRow } from "../inspect/shapes/calls.ts";
import type { CallView } from "../inspect/shapes/one-call.ts";
import type { WhatIf } from "../lab/shapes.ts";
import { foldMessages } from "../reports/expand.ts";
import { plainLines } from "../reports/report-lines.ts";
import { agentPaths } from "../sessions/paths.ts";
import { createSessionStore } from "../sessions/store.ts";
import { clew, startClew } from "../testing/command.ts";
import { homeWithOwnPort, temporaryHome } from "../testing/home.ts";
import { DEMO_AGENT, DEMO_KEY, demoState, wantsDemo } from "./demo-place.ts";
import { inventStory } from "./story.ts";

const END = Date.parse("2026-03-01T12:00:00.000Z");

async function readReports(home: string): Promise<TurnReport[]> {
  const { reports } = agentPaths(home, DEMO_AGENT);
  const [name] = (await readdir(reports)).filter((file) => file.endsWith(".jsonl"));
  const lines = plainLines(await readFile(join(reports, name!), "utf8"))
    .trim()
    .split("\n");
  return lines.map((line) => JSON.parse(line) as TurnReport);
}

describe("the story of the demo", () => {
  it("is the same every time, and ends when it is told to", () => {
    const story = inventStory(END);
    expect(inventStory(END)).toEqual(story);
    expect(story.turns.at(-1)!.steps.at(-1)!.reply.timestamp).toBe(END);
    const calls = story.turns.flatMap(({ steps }) => steps);
    expect(calls.length).toBeGreaterThan(300);
  });
});

describe("the demo session", () => {
  let home = "";
  let said = "";
  beforeAll(async () => {
    home = await homeWithOwnPort({ keep: true });
    said = (await clew(home, ["demo", "make"])).output;
  });

  it("went through the host: compactions, prunes, an overflow, a failed engine, and their cost", async () => {
    expect(said).toMatch(
      /agent:demo:main: 58 turns, \d+ model calls, of which 1 was refused, .* no model was called/,
    );
    const reports = await readReports(home);
    const session = await createSessionStore({ home }).read(DEMO_KEY);
    const types = session!.branch.map((entry) =>
      entry.type === "custom" ? entry.customType : entry.type,
    );
    expect(types.filter((type) => type === "compaction").length).toBeGreaterThan(5);
    expect(types.filter((type) => type === "clew.session-prune").length).toBeGreaterThan(1);
    const triggers = reports.flatMap(({ compactions }) => compactions.map((one) => one.trigger));
    expect(new Set(triggers)).toEqual(new Set(["threshold", "overflow"]));
    expect(reports.filter(({ engine }) => engine.degraded !== null)).toHaveLength(1);
    const answered = reports.flatMap(({ modelCalls }) =>
      modelCalls.filter(({ error }) => error === null),
    );
    for (const { usage, cache } of answered.slice(1)) {
      expect(usage!.cacheRead + usage!.cacheWrite).toBeGreaterThan(0);
      expect(cache?.billed).toBe(usage!.cacheRead);
    }
    expect(await readdir(home)).toEqual(expect.arrayContaining(["agents", "demo.json"]));
    expect((await readdir(home)).filter((name) => name.startsWith(".demo"))).toEqual([]);
  });

  it("finds no cache broken by what no provider is sent, and no failed engine that answers", async () => {
    const { calls } = JSON.parse((await clew(home, ["inspect", DEMO_KEY, "--json"])).output) as {
      calls: CallRow[];
    };
    const broken = calls.filter(({ cache }) => cache?.broke === "messages-changed");
    for (const { happened } of broken) expect(happened).not.toEqual([]);
    const degraded = calls.filter(({ marks }) => marks.includes("degraded"));
    expect(new Set(degraded.map(({ engine }) => engine))).toEqual(new Set(["legacy"]));
    const own = JSON.parse((await clew(home, ["usage", DEMO_KEY, "--json"])).output) as Usage;
    expect(own.engines.map(({ name }) => name)).toEqual(["legacy"]);
  });

  const inspect = async (...args: string[]) => clew(home, ["inspect", "demo", ...args]);
  const callsOf = async () =>
    (JSON.parse((await inspect("--json")).output) as { calls: CallRow[] }).calls;

  it("has one sum of what was sent, wherever it is told, and what was paid for nothing in each call", async () => {
    const calls = await callsOf();
    const refused = calls.filter(({ error }) => error !== null);
    expect(refused.map(({ marks }) => marks)).toEqual([["overflow"]]);
    const sent = calls.reduce((sum, row) => sum + sentTokens(row), 0);
    const own = JSON.parse((await clew(home, ["usage", "demo", "--json"])).output) as Usage;
    const { input, cacheRead, cacheWrite } = own.total.tokens;
    expect(input + cacheRead + cacheWrite).toBe(sent);
    expect((await inspect()).output).toContain(
      `${sent.toLocaleString("en-US")} tokens sent (1 call without an answer is not in it)`,
    );
    const whatIf = async () =>
      JSON.parse((await clew(home, ["whatif", "demo", "--json"])).output) as WhatIf;
    const [once, again] = [await whatIf(), await whatIf()];
    expect(once.asItWas).toMatchObject({ calls: calls.length, unanswered: 1 });
    const tokens = ({ played }: WhatIf) => played.points.map((point) => point.tokens);
    expect(tokens(again)).toEqual(tokens(once));
    const { brokenPrefix, overFull } = own.total.waste;
    const lost = calls.flatMap(({ waste }) => waste).filter((one) => one.cause === "broken-prefix");
    expect(brokenPrefix).toMatchObject({ calls: lost.length });
    expect(brokenPrefix.dollars).toBeGreaterThan(0);
    expect(brokenPrefix.dollars).toBeCloseTo(
      lost.reduce((sum, { dollars }) => sum + dollars!, 0),
      8,
    );
    expect(overFull).toMatchObject({ calls: 1, dollars: 0 });
  });

  it("says of the call that was refused that no model has read it, and why", async () => {
    const [refused] = (await callsOf()).filter(({ error }) => error !== null);
    const { output } = await inspect("--call", refused!.id);
    expect(output).toMatch(
      /Its provider refused it as too large, so no model has read it: prompt is too long: /,
    );
  });

  it("lists what each call sent so that it adds up to what the provider counted", async () => {
    for (const { id } of (await callsOf()).slice(0, 12)) {
      const { row, items } = JSON.parse((await inspect("--call", id, "--json")).output) as CallView;
      expect(items.reduce((sum, { tokens }) => sum + tokens, 0)).toBe(row.tokens.total);
      const system = items.filter(({ part }) => part === "system");
      expect(system.reduce((sum, { tokens }) => sum + tokens, 0)).toBe(row.tokens.system);
    }
  });

  it("tells every stretch of calls in which a fact was gone", async () => {
    const lines = (await inspect("--bisect", "blue oilskin")).output.trim().split("\n");
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatch(/was last shown in call [\d.]+ and is gone in calls [\d.]+ to 57\.1/);
    expect(lines[1]).toMatch(/can be read again: in calls 57\.2 to /);
    const nowhere = await inspect("--find", "zzzznope");
    expect([nowhere.code, nowhere.output]).toEqual([1, ""]);
    expect(nowhere.errors).toContain("stands in no entry");
    expect((await inspect("--diff", "3.1", "--call", "99.9")).errors).toMatch(/no call 99\.9 in/);
    expect((await inspect("--request")).errors).toContain(
      "--request prints the request of one call",
    );
  });

  it("never says that its tests pass where they had failed last", () => {
    for (const { steps } of inventStory(END).turns) {
      const results = steps.flatMap((step) => step.results);
      const tests = results.filter(({ content }) => /^ok {3}/.test(textOf({ content } as never)));
      expect(tests.at(-1)?.isError ?? false).toBe(false);
    }
  });

  it("is one reading of the cache to a replay and a comparison, by the prices of the recording", async () => {
    const args = ["demo", "--context-window", "48000", "--json"];
    const replayed = JSON.parse((await clew(home, ["replay", ...args])).output) as {
      fromCache: number;
      tokens: { total: number };
    };
    const { figures } = JSON.parse(
      (await clew(home, ["compare", ...args, "--engines", "legacy"])).output,
    ) as { figures: { cached: number; dollars: number }[] };
    expect(figures[0]!.dollars).toBeGreaterThan(1);
    expect(replayed.fromCache / replayed.tokens.total).toBeCloseTo(figures[0]!.cached, 1);
  });

  it("tells what it would have cost, and is in nobody's bill", async () => {
    const all = JSON.parse((await clew(home, ["usage", "--json"])).output) as Usage;
    expect([all.total.modelCalls, all.notCounted]).toEqual([0, [DEMO_KEY]]);
    expect((await clew(home, ["usage"])).output).toBe(
      `No model was asked yet. Session "${DEMO_KEY}" is not in it: no model was asked for it.`,
    );
    const own = JSON.parse((await clew(home, ["usage", DEMO_KEY, "--json"])).output) as Usage;
    const { calls } = JSON.parse((await clew(home, ["inspect", DEMO_KEY, "--json"])).output) as {
      calls: CallRow[];
    };
    for (const args of [["inspect"], ["inspect", "--dearest"], ["whatif"]])
      expect((await clew(home, [args[0]!, DEMO_KEY, ...args.slice(1)])).output).toContain(
        "Nothing of this was paid",
      );
    const sum = (of: (row: CallRow) => number) => calls.reduce((all, row) => all + of(row), 0);
    const { input, cacheRead, cacheWrite, output } = own.total.tokens;
    expect(own.total).toMatchObject({ modelCalls: calls.length, failed: 1, unknown: 0 });
    expect(own.total.cost.total).toBeCloseTo(
      sum(({ cost }) => cost!.total),
      8,
    );
    expect(own.total.cost.total).toBeGreaterThan(1);
    expect(output).toBe(sum(({ outputTokens }) => outputTokens ?? 0));
    expect(input + cacheRead + cacheWrite).toBe(
      sum(({ isCounted, tokens }) => (isCounted ? tokens.total : 0)),
    );
  });

  it("holds a fact that leaves the view and is found again by the session's own search", async () => {
    const { fact } = inventStory(END);
    const { branch } = (await createSessionStore({ home }).read(DEMO_KEY))!;
    const holding = branch.flatMap((entry) =>
      entry.type === "message" && textOf(entry.message).includes(fact.words) ? [entry] : [],
    );
    const where = holding.map(({ message }) =>
      message.role === "toolResult" ? message.toolName : message.role,
    );
    expect(where).toEqual(["read_file", "session_search"]);
    for (const entry of branch)
      if (entry.type === "compaction") expect(entry.summary).not.toContain(fact.words);
    const shown = (await readReports(home)).flatMap(({ modelCalls }) => modelCalls);
    const isShown = shown.map((_, at) =>
      foldMessages(shown.slice(0, at + 1))!.some(
        ({ source }) => source.kind === "entry" && source.entryId === holding[0]!.id,
      ),
    );
    const left = isShown.lastIndexOf(true) + 1;
    expect(left).toBeGreaterThan(10);
    expect(shown.length - left).toBeGreaterThan(200);
  });

  it("is made once, removed by one command, and stays removed", async () => {
    const copy = await temporaryHome();
    expect(await wantsDemo(copy)).toBe(true);
    await cp(home, copy, { recursive: true });
    expect(await clew(copy, ["demo", "make"])).toMatchObject({
      code: 1,
      errors: expect.stringMatching(/already; ".*demo remove" removes it/),
    });
    expect((await clew(copy, ["sessions", "list"])).output).toMatch(/agent:demo:main \(demo\)/);
    expect((await clew(copy, ["demo", "remove"])).output).toContain("is removed");
    expect(await demoState(copy)).toBe("removed");
    expect(await wantsDemo(copy)).toBe(false);
    expect(existsSync(join(copy, "agents", DEMO_AGENT))).toBe(false);
    expect((await clew(copy, ["demo", "remove"])).output).toContain("There is no demo session");
  });

  it("is not made where a person has said something, or has an agent of that name", async () => {
    const used = await temporaryHome();
    await clew(used, ["chat", "hello"]);
    expect(await wantsDemo(used)).toBe(false);
    const other = await temporaryHome();
    await mkdir(join(other, "agents", DEMO_AGENT), { recursive: true });
    expect(await wantsDemo(other)).toBe(false);
    await clew(other, ["demo", "remove"]);
    expect(existsSync(join(other, "agents", DEMO_AGENT))).toBe(true);
    expect((await clew(other, ["demo", "make"])).errors).toContain("of its own");
  });

  it("is nobody's failing engine for the doctor", async () => {
    expect((await clew(home, ["doctor"])).output).not.toContain("planted by the demo");
  });
});

describe("clew start", () => {
  it("has the demo made meanwhile, and what it prints can be done as it stands", async () => {
    const home = await temporaryHome();
    const child = startClew(home, ["start", "--port", "0"], {
      env: { CLEW_DEMO: "", npm_lifecycle_event: "start" },
    });
    const lines: string[] = [];
    while (lines.at(-1) !== "Ctrl-C stops it.") lines.push(await child.nextLine());
    expect(lines.join("\n")).toMatch(/agent:demo:main, will be there in some seconds/);
    const third = lines.find((line) => line.includes("3. "))!;
    const args = third.slice(third.indexOf("-- ") + 3).split(" ");
    expect((await clew(home, args)).output).toMatch(/58 turns, \d+ calls/);
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(lines[0]!)![0];
    const answer = await fetch(`${url}/api/sessions/main/messages`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"text":"What is my cat called?"}',
    });
    expect(await answer.text()).toContain("done");
    const isThere = async () => {
      const { sessions } = (await (await fetch(`${url}/api/sessions`)).json()) as {
        sessions: { key: string; demo: boolean }[];
      };
      return sessions.some(({ key, demo }) => key === DEMO_KEY && demo);
    };
    await expect.poll(isThere, { timeout: 150_000, interval: 200 }).toBe(true);
    expect(await demoState(home)).toBe("made");
    child.process.kill("SIGTERM");
    await child.exit;
  });

  it("stopped before the demo is ready leaves nothing of it", async () => {
    const home = await temporaryHome();
    const child = startClew(home, ["start", "--port", "0"], { env: { CLEW_DEMO: "" } });
    while ((await child.nextLine()) !== "Ctrl-C stops it.");
    child.process.kill("SIGTERM");
    await child.exit;
    await writeFile(join(home, "clew.json"), "{}");
    expect(await demoState(home)).toBe("none");
  });
});

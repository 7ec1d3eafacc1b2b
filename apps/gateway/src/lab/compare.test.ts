import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { describe, expect, it } from "vitest";
import type { RecordedTurn } from "../replay/recorded-turns.ts";
import { clew } from "../testing/command.ts";
import { temporaryHome } from "../testing/home.ts";
import { calls, failed, reply, result, user, writeRecording } from "../testing/recording.ts";
import { drawChart } from "./charts.ts";
import { countPresent, planNeededNames } from "./evidence.ts";
import type { PlayedPoint } from "./shapes.ts";

const MODEL = "anthropic/claude-sonnet-4-5";

/** Ten turns that each look something up; the first says where the file is. */
const RECORDING = Array.from({ length: 10 }, (_, at) => [
  user(at === 0 ? "It is all in src/harbour/lock-gate.ts, says Ines." : `question ${at}`),
  calls(`c${at}`),
  result(`c${at}`, "tide and time ".repeat(300)),
  reply(`answer ${at}`),
]).flat();

const answeredBySonnet = (messages: readonly AgentMessage[]) =>
  messages.map((message) =>
    message.role === "assistant"
      ? { ...message, provider: "anthropic", model: "claude-sonnet-4-5" }
      : message,
  );

interface Comparison {
  figures: Record<string, number & { total: number }>[];
  compared: { engine: { asked: string; ran: string }; points: PlayedPoint[] }[];
}

describe("clew compare", () => {
  it("plays each recording through each engine, and tells the same in table, JSON and report", async () => {
    const home = await temporaryHome();
    const file = await writeRecording(home, RECORDING);
    const html = join(home, "report.html");
    const common = [file, "--context-window", "16000", "--model", MODEL];
    const json = await clew(home, ["compare", ...common, "--json"]);
    expect(json.code).toBe(0);
    const { figures, compared } = JSON.parse(json.output) as Comparison;
    expect(compared.map(({ engine }) => engine)).toMatchObject([
      { asked: "legacy", ran: "legacy" },
      { asked: "lossless", ran: "lossless" },
    ]);
    for (const [at, { points }] of compared.entries()) {
      expect(points).toHaveLength(20);
      const total = points.reduce((sum, { tokens }) => sum + tokens.total, 0);
      expect(figures[at]!.tokens).toMatchObject({ total });
      for (const { tokens, cost, fates, id, turn, call } of points) {
        const { total, ...parts } = tokens;
        expect(Object.values(parts).reduce((sum, part) => sum + part, 0)).toBe(total);
        expect(cost!.total).toBeGreaterThan(0);
        const { all, shown, summary, cleared, leftOut } = fates;
        expect(shown + summary + cleared + leftOut).toBe(all);
        expect(id).toBe(`${turn}.${call}`);
      }
    }
    const shown = await clew(home, ["compare", ...common, "--html", html]);
    expect(shown.output).toMatch(/recording +engine +calls +tokens/);
    expect(shown.output).toContain(`The report is ${html}.`);
    const page = await readFile(html, "utf8");
    expect(page.match(/<svg /g)).toHaveLength(6);
    // On a narrow page each figure stands below its heading, and none is scrolled out of sight.
    expect(page.match(/<td role="cell" data-heading="per call">/g)).toHaveLength(figures.length);
    expect(page).not.toContain("overflow-x");
    expect(page).not.toMatch(/<script|https?:\/\/|<link|@import|url\(/);
    for (const { tokens } of figures) expect(page).toContain(tokens!.total.toLocaleString("en-US"));
  });

  it("says in one sentence what is wrong with what it is asked", async () => {
    const home = await temporaryHome();
    const file = await writeRecording(home, [user("one"), reply("first")]);
    const cases: [string[], RegExp][] = [
      [[file, "--engines", ","], /names 0 engines; name one to 6/],
      [[file, "--engines", "nope"], /no context engine "nope"/],
      [[file, "--model", "nope"], /cannot be played with; name it as "provider\/model"/],
      [["nowhere/nothing.jsonl"], /There is nothing at/],
      [
        [file, "--html", join(home, "no/folder.html")],
        /cannot be written: there is no such folder; name a place/,
      ],
    ];
    for (const [args, expected] of cases) {
      const { code, errors } = await clew(home, ["compare", ...args]);
      expect(errors).toMatch(expected);
      expect(errors.trim().split("\n").at(-1)).toMatch(expected);
      expect([1, 2]).toContain(code);
    }
  });
});

describe("the names that are needed", () => {
  const look = (path: string, at: number): RecordedTurn["steps"][number] => ({
    before: [],
    reply: {
      role: "assistant",
      content: [{ type: "toolCall", id: `c${at}`, name: "read", arguments: { path } }],
      stopReason: "toolUse",
    },
    results: [],
  });
  const turns: RecordedTurn[] = [
    {
      prompt: { role: "user", content: "Begin with src/harbour/lock-gate.ts." },
      steps: [look("src/harbour/lock-gate.ts", 0), look("src/harbour/never-named.ts", 1)],
      after: [],
    },
    {
      prompt: { role: "user", content: "Go on." },
      steps: [look("src/harbour/lock-gate.ts", 2), look("src/harbour/never-named.ts", 3)],
      after: [],
    },
  ];

  it("are those of the replies ahead that somebody had named before", () => {
    const needed = planNeededNames(turns).map((turn) => turn.map((names) => [...names]));
    const [known, found] = ["src/harbour/lock-gate.ts", "src/harbour/never-named.ts"];
    expect(needed).toEqual([
      [[known], [known]],
      [[known, found], [found]],
    ]);
  });

  it("are present wherever they stand in the request", () => {
    const call = {
      systemPrompt: "",
      messages: [user("x src/harbour/lock-gate.ts"), ...turns[0]!.steps.map((step) => step.reply)],
    };
    const asked = call as unknown as Parameters<typeof countPresent>[0];
    expect(countPresent(asked, new Set(["src/harbour/lock-gate.ts", "src/nope.ts"]))).toBe(1);
    expect(countPresent({ ...asked, messages: [] }, new Set(["src/nope.ts"]))).toBe(0);
  });
});

describe("a chart", () => {
  it("draws any values, and says them to those who cannot see it", () => {
    const svg = drawChart({
      ...{ title: "Tokens <per> call", unit: "tokens" },
      lines: [{ name: "a & b", values: [1, null, 3, 2_000] }],
    });
    expect(svg).not.toMatch(/NaN|Infinity|undefined|<per>/);
    expect(svg).toContain("at most 2,000, in the end 2,000");
    expect(drawChart({ title: "none", unit: "$", lines: [] })).not.toMatch(/NaN|Infinity/);
    const many = { name: "long", values: Array.from({ length: 100_000 }, (_, at) => at) };
    expect(drawChart({ title: "long", unit: "", lines: [many] }).length).toBeLessThan(30_000);
  });
});

it("a recording costs as much in a replay as in a comparison, by the model that answered it", async () => {
  const home = await temporaryHome();
  const file = await writeRecording(home, answeredBySonnet(RECORDING));
  const common = [file, "--context-window", "16000", "--json"];
  const { output } = await clew(home, ["compare", ...common, "--engines", "legacy"]);
  const replayed = JSON.parse((await clew(home, ["replay", ...common])).output);
  const [figures] = (JSON.parse(output) as Comparison).figures;
  expect(replayed.model).toMatchObject({ provider: "anthropic", id: "claude-sonnet-4-5" });
  expect(replayed.tokens.total).toBe(figures!.tokens!.total);
  expect(replayed.cost.total).toBeGreaterThan(0);
  expect(replayed.cost.total).toBeCloseTo(figures!.dollars!, 9);
  const told = [
    (await clew(home, ["compare", file, "--context-window", "16000", "--engines", "legacy"]))
      .output,
    (await clew(home, ["replay", file, "--context-window", "16000"])).output,
  ];
  const perCall = Math.round(replayed.tokens.total / replayed.calls).toLocaleString("en-US");
  for (const text of told) expect(text).toContain(` ${perCall} `);
  expect(told[0]).toContain("Played in a window of 16,000 tokens (--context-window names another)");
});

it("a stopped or failed call takes no cost from the others: it was sent, and is priced as they are", async () => {
  const home = await temporaryHome();
  const ended = [user("tell on"), failed("aborted", "half"), user("and?"), failed("error")];
  const recorded = answeredBySonnet([...RECORDING, ...ended, user("last"), reply("done")]);
  const common = [await writeRecording(home, recorded), "--context-window", "16000"];
  const { output } = await clew(home, ["compare", ...common, "--json"]);
  const { figures, compared } = JSON.parse(output) as Comparison;
  for (const [at, { points }] of compared.entries()) {
    expect(points).toHaveLength(23);
    const total = points.reduce((sum, { cost }) => sum + cost!.total, 0);
    expect(figures[at]!.dollars).toBeCloseTo(total, 9);
    // A part of the reply had arrived, and the prompt is the cache's but for what is new in it.
    const [stopped, error] = points.slice(-3);
    expect(stopped!.cost!.output).toBeGreaterThan(error!.cost!.output);
    expect(stopped!.cost!.cacheRead).toBeGreaterThan(0);
  }
  const told = (await clew(home, ["compare", ...common])).output;
  expect(told).not.toContain("No cost");
  const replayed = JSON.parse((await clew(home, ["replay", ...common, "--json"])).output);
  expect(replayed.cost.total).toBeCloseTo(figures[0]!.dollars!, 9);
});

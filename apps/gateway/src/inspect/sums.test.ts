import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createEmulator, type EmulatorOptions } from "@clew/providers/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Usage } from "../costs/usage.ts";
import { clew } from "../testing/command.ts";
import { emulatedModel, startTestGateway } from "../testing/gateway.ts";
import { type CallPage, CallPageSchema } from "./shapes/calls.ts";

const LONG = "The tide was high and the harbour full of boats. ".repeat(200);
const COST = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };

async function pricedGateway(
  answers: NonNullable<EmulatorOptions["answers"]>,
  costCaps: object = {},
) {
  const server = await createEmulator("openai-completions", { answers });
  onTestFinished(() => server.close());
  const models = emulatedModel(server.baseUrl, { cost: COST });
  const defaults = { model: "emulated/emulated", compaction: { keepRecentTokens: 200 } };
  const config = { ...models, agents: { defaults }, gateway: { costCaps } };
  const host = await startTestGateway(config);
  await writeFile(join(host.home, "clew.json"), JSON.stringify(config));
  const read = async (path: string) => (await host.get(`/api/sessions/main/${path}`)).json();
  const session = async () => (await host.get("/api/sessions/main")).json();
  const page = async () => CallPageSchema.parse(await read("calls"));
  return { ...host, read, session, page };
}

const dollarsIn = ({ calls, since }: CallPage) =>
  calls.reduce((sum, { cost }) => sum + (cost?.total ?? Number.NaN), since.cost?.total ?? 0);

describe("what calls cost", () => {
  it("is in rows, and in what came since, as much as usage tells, whatever came last", async () => {
    let isCut = false;
    let told = "";
    const { home, say, gateway, page, read } = await pricedGateway(() =>
      isCut ? { fault: "cut", text: "The tide" } : { text: "Fine." },
    );
    const seen: string[] = [];
    const moves = "say say compact say say compact say compact cut say say compact cut compact";
    for (const [index, move] of moves.split(" ").entries()) {
      isCut = move === "cut";
      if (move === "compact")
        told = (await gateway.command("main", { kind: "command", name: "compact", args: "" })).text;
      else await say(`${index} ${LONG}`);
      isCut = false;
      const now = await page();
      const { total } = (await read("usage")) as Usage;
      expect(total.unknown).toBe(0);
      expect(dollarsIn(now), `${index} ${move}`).toBeCloseTo(total.cost.total, 9);
      if (now.since.sideCalls > 0) seen.push(move);
    }
    expect(seen).toContain("compact");
    expect(told).toMatch(/ It asked a model (once|\d+ times), for \$0\.\d+\.$/);
    const now = await page();
    expect(now.since.sideCalls).toBeGreaterThan(0);
    const { output } = await clew(home, ["inspect", "main"]);
    expect(output).toMatch(
      /\nCost: \$[\d.]+, \$[\d.]+ of it since the newest call for \d+ side calls?\./,
    );
  });

  it("is told beside calls and what they were sent, which are the same numbers everywhere", async () => {
    const { home, say, gateway, page, read } = await pricedGateway(() => ({ text: "Fine." }));
    for (const move of ["say", "say", "compact", "say"])
      if (move === "say") await say(LONG);
      else await gateway.command("main", { kind: "command", name: "compact", args: "" });
    const { calls, sums } = await page();
    const sent = calls.reduce((sum, { tokens }) => sum + tokens.total, 0);
    const turns = new Set(calls.map(({ turn }) => turn)).size;
    expect(sums).toEqual({ calls: 3, turns, sent });
    expect(CallPageSchema.parse(await read("calls?limit=1")).sums).toEqual(sums);
    const { total } = (await read("usage")) as Usage;
    const promptOf = ({ input, cacheRead, cacheWrite }: Usage["total"]["tokens"]) =>
      input + cacheRead + cacheWrite;
    expect(total.sideCalls).toBeGreaterThan(0);
    expect(total.modelCalls).toBe(sums.calls + total.sideCalls);
    expect(promptOf(total.tokens)).toBe(sums.sent + promptOf(total.sideTokens));
    const told = (await clew(home, ["inspect", "main"])).output;
    expect(told).toContain(`3 calls in 3 turns, ${sent.toLocaleString("en-US")} tokens sent.`);
    expect(told).toMatch(/\nSide calls, such as for summaries, cost \$[\d.]+ of it/);
    const spent = new RegExp(`for ${total.modelCalls} model calls`);
    expect((await clew(home, ["usage", "main"])).output).toMatch(spent);
    expect(
      (await gateway.command("main", { kind: "command", name: "status", args: "" })).text,
    ).toMatch(spent);
  });

  it("is estimated of a reply that breaks off, whose row tells how it ended", async () => {
    const { say, page, read } = await pricedGateway(() => ({ fault: "cut", text: "The tide" }));
    await say(LONG);
    const { calls } = await page();
    expect(calls.length).toBeGreaterThan(0);
    const { total } = (await read("usage")) as Usage;
    for (const row of calls) {
      expect(row).toMatchObject({ stopReason: "error", error: expect.stringMatching(/./) });
      expect(row.cost?.input).toBeGreaterThan(0);
      expect(row.outputTokens).toBeGreaterThan(0);
    }
    expect(total.estimated).toBe(total.modelCalls);
  });
});

describe("a session that begins anew", () => {
  it("has no calls and cost nothing yet, before anything is said in it", async () => {
    const { say, gateway, page, read, get } = await pricedGateway(() => ({ text: "Fine." }));
    await say("My cat is called Minka.");
    expect((await page()).total).toBe(1);
    await gateway.command("main", { kind: "command", name: "new", args: "" });
    expect(await page()).toMatchObject({
      calls: [],
      total: 0,
      sums: { calls: 0, turns: 0, sent: 0 },
      next: null,
    });
    expect(await read("usage")).toMatchObject({ total: { modelCalls: 0 } });
    expect(await read("turn")).toEqual({ underWay: null });
    expect((await get("/api/sessions/main/calls/1.1")).status).toBe(404);
    expect((await get("/api/sessions/nobody/calls")).status).toBe(404);
    await say("Who am I?");
    expect((await page()).total).toBe(1);
  });
});

describe("a message that a cost cap keeps from the model", () => {
  it("keeps the reason in the record, and calls no model", async () => {
    const { home, say, page, session } = await pricedGateway([{ text: "Fine." }], {
      sessionDollars: 0.0001,
    });
    await say("My cat is called Minka.");
    const { events } = await say("What is she called?");
    const done = events.at(-1) as { error?: { code?: string; message: string } };
    const why = done.error!.message;
    expect(done.error).toMatchObject({
      code: "COST_CAP_REACHED",
      message: expect.stringContaining("so no model was asked"),
    });
    const { entries } = (await session()) as { entries: { message?: unknown }[] };
    expect(entries.at(-1)?.message).toMatchObject({
      ...{ role: "assistant", content: [], stopReason: "error", errorMessage: why },
    });
    expect((await clew(home, ["sessions", "show", "main"])).output).toContain(`(failed: ${why})`);
    expect(await page()).toMatchObject({ total: 1, since: { unanswered: [why] } });
    expect((await clew(home, ["inspect", "main"])).output).toContain(
      `After them a message had no reply: ${why}`,
    );
    const raise = ["config", "set", "gateway.costCaps.sessionDollars", "1"];
    expect((await clew(home, raise)).code).toBe(0);
    await say("And now?");
    const { calls, since } = await page();
    expect(calls[1]?.happened).toEqual([`a message had no reply: ${why}`]);
    await say("And then?");
    expect((await page()).calls.map(({ lost }) => lost)).toEqual([null, null, null]);
    expect(since.unanswered).toEqual([]);
  });
});

import { writeFile } from "node:fs/promises";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { CallPageSchema } from "../inspect/shapes/calls.ts";
import { REPORTS_START, readReports } from "../reports/read-reports.ts";
import { agentPaths } from "../sessions/paths.ts";
import { emulatedModel, startTestGateway } from "../testing/gateway.ts";
import type { Usage } from "./usage.ts";

const COST = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };
const LONG = "The tide was high and the harbour full of boats. ".repeat(200);
const COUNTED = { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 };

type Answer = (response: ServerResponse) => void;

/** It has read the whole request, and goes away before a byte of its answer. */
const cut: Answer = (response) => response.destroy();
const status =
  (code: number): Answer =>
  (response) =>
    response.writeHead(code, { "retry-after": "0" }).end();
const reply =
  (usage: object = COUNTED): Answer =>
  (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const head = { id: "c", object: "chat.completion.chunk", model: "emulated" };
    const choices = [{ index: 0, delta: { content: "Fine." }, finish_reason: "stop" }];
    for (const part of [{ choices }, { choices: [], usage }])
      response.write(`data: ${JSON.stringify({ ...head, ...part })}\n\n`);
    response.end("data: [DONE]\n\n");
  };

/** A gateway before a server that gives these answers in order, the last one on and on. */
async function gatewayBefore(answers: readonly Answer[], costCaps: object = {}) {
  let requests = 0;
  const server = createServer((request, response) => {
    request.resume();
    request.on("end", () => {
      const answer = answers[Math.min(requests++, answers.length - 1)]!;
      answer(response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  onTestFinished(close);
  const { port } = server.address() as AddressInfo;
  const models = emulatedModel(`http://127.0.0.1:${port}/v1`, { cost: COST });
  const defaults = { model: "emulated/emulated", compaction: { keepRecentTokens: 200 } };
  const config = { ...models, agents: { defaults }, gateway: { costCaps } };
  const host = await startTestGateway(config);
  await writeFile(join(host.home, "clew.json"), JSON.stringify(config));
  const read = async (path: string) => (await host.get(`/api/sessions/main/${path}`)).json();
  const told = async () => {
    const page = CallPageSchema.parse(await read("calls"));
    const { total } = (await read("usage")) as Usage;
    const rows = page.calls.reduce(
      (sum, { cost }) => sum + (cost?.total ?? Number.NaN),
      page.since.cost?.total ?? 0,
    );
    return { calls: page.calls, rows, total };
  };
  const reported = async () => {
    const { sessionId } = (await host.gateway.session("main"))!;
    const found: { retries: number; resent?: unknown[] }[] = [];
    const { reports } = agentPaths(host.home, "main");
    await readReports(reports, sessionId, REPORTS_START, ({ report }) => {
      found.push(...report.modelCalls);
    });
    return found;
  };
  const say = async (text: string) => {
    const { events } = await host.say(text);
    return events.at(-1) as unknown as {
      outcome: string;
      cost?: object;
      error: { code?: string; message: string } | null;
    };
  };
  const why = async () => ((await read("calls/1.1")) as { why: string[] }).why;
  return { ...host, say, told, why, reported, close, requests: () => requests };
}

describe("a call that is made again after its answer broke off", () => {
  it("is paid as often as it was read, in usage, in its row and as waste", async () => {
    const host = await gatewayBefore([cut, cut, reply()]);
    const done = await host.say(LONG);
    expect(done.outcome).toBe("completed");
    expect(done.cost).toMatchObject({ turn: { modelCalls: 3 }, session: { modelCalls: 3 } });
    expect(host.requests()).toBe(3);
    const { calls, rows, total } = await host.told();
    expect(total).toMatchObject({ modelCalls: 3, failed: 2, estimated: 2, unknown: 0 });
    const answered = (1000 * 3 + 100 * 15) / 1e6;
    const again = total.cost.total - answered;
    expect(again).toBeGreaterThan(0);
    expect(rows).toBeCloseTo(total.cost.total, 10);
    expect(total.waste.resent).toMatchObject({ calls: 2 });
    expect(total.waste.resent.dollars).toBeCloseTo(again, 10);
    expect(calls).toHaveLength(1);
    expect(calls[0]!.waste).toMatchObject([{ cause: "re-sent" }]);
    expect(calls[0]!.waste[0]!.dollars).toBeCloseTo(again, 10);
    expect(await host.reported()).toMatchObject([{ retries: 2, resent: [{}, {}] }]);
    expect(await host.why()).toContain(
      "It was asked 3 times: the 2 tries before it were refused or broke off, and 2 of 2 are part of its cost.",
    );
  });

  it("is paid as often where every try breaks off", async () => {
    const host = await gatewayBefore([cut]);
    expect((await host.say(LONG)).outcome).toBe("failed");
    const { rows, total } = await host.told();
    expect(total).toMatchObject({ modelCalls: 3, failed: 3, estimated: 3, unknown: 0 });
    expect(rows).toBeCloseTo(total.cost.total, 10);
    expect(total.waste.resent).toMatchObject({ calls: 3 });
    expect(total.waste.resent.dollars).toBeCloseTo(total.cost.total, 10);
  });

  it("is not made again beyond a cap, which the error says", async () => {
    const host = await gatewayBefore([cut], { sessionDollars: 0.001 });
    const { outcome, error } = await host.say(LONG);
    expect(outcome).toBe("failed");
    expect(error?.message).toMatch(/It was not tried again: The cost cap of session "main" is/);
    expect(host.requests()).toBe(1);
    const { calls, rows, total } = await host.told();
    expect(total).toMatchObject({ modelCalls: 1, estimated: 1, unknown: 0 });
    expect(rows).toBeCloseTo(total.cost.total, 10);
    expect(calls).toHaveLength(1);
    expect((await host.say("Again")).error?.code).toBe("COST_CAP_REACHED");
    expect(host.requests()).toBe(1);
  });

  it("counts each try that asked for a summary", async () => {
    const host = await gatewayBefore([...Array(6).fill(reply()), cut, reply()]);
    for (const part of [1, 2, 3, 4, 5, 6]) await host.say(`${part} ${LONG}`);
    await host.gateway.command("main", { kind: "command", name: "compact", args: "" });
    expect(host.requests()).toBeGreaterThan(7);
    const { rows, total } = await host.told();
    expect(total).toMatchObject({ modelCalls: host.requests(), estimated: 1, unknown: 0 });
    expect(rows).toBeCloseTo(total.cost.total, 10);
  });
});

describe("a call that is made again after it was refused", () => {
  it("is paid once, and told as sent again for nothing", async () => {
    const host = await gatewayBefore([status(500), status(429), reply()]);
    expect((await host.say(LONG)).outcome).toBe("completed");
    expect(host.requests()).toBe(3);
    const { calls, rows, total } = await host.told();
    expect(total).toMatchObject({ modelCalls: 1, failed: 0, estimated: 0, unknown: 0 });
    expect(total.cost.total).toBeCloseTo((1000 * 3 + 100 * 15) / 1e6, 10);
    expect(rows).toBeCloseTo(total.cost.total, 10);
    expect(total.waste.resent).toEqual({ calls: 2, tokens: 2000, dollars: 0 });
    expect(calls[0]!.waste).toEqual([{ cause: "re-sent", tokens: 2000, dollars: 0 }]);
    expect(await host.why()).toContain(
      "It was asked 3 times: the 2 tries before it were refused, or broke off before anything was read.",
    );
  });
});

describe("a call that reached no server", () => {
  it("costs nothing, however often it is made", async () => {
    const host = await gatewayBefore([reply()]);
    host.close();
    expect((await host.say(LONG)).outcome).toBe("failed");
    const { rows, total } = await host.told();
    expect(total).toMatchObject({ modelCalls: 1, failed: 1, estimated: 0, unknown: 0 });
    expect([rows, total.cost.total, total.waste.resent.dollars]).toEqual([0, 0, 0]);
  });
});

describe("a reply whose usage nobody can believe", () => {
  it.each([
    { prompt_tokens: -5, completion_tokens: "x", total_tokens: null },
    { prompt_tokens: 1000, completion_tokens: -1 },
    { prompt_tokens: "1000" },
  ])("is estimated by what was sent, and not free: %o", async (usage) => {
    const host = await gatewayBefore([reply(usage)]);
    expect((await host.say("Hello")).outcome).toBe("completed");
    const { calls, total } = await host.told();
    expect(total).toMatchObject({ modelCalls: 1, unknown: 0, estimated: 1 });
    expect(calls[0]!.cost!.input).toBeGreaterThan(0);
  });
});

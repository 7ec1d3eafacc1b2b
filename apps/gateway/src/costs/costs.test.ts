import { appendFile, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createEmulator, type EmulatorOptions } from "@clew/providers/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { costOfTurn } from "../inspect/cost.ts";
import { CallPageSchema } from "../inspect/shapes/calls.ts";
import { REPORTS_START, readReports } from "../reports/read-reports.ts";
import { agentPaths } from "../sessions/paths.ts";
import { clew } from "../testing/command.ts";
import { emulatedModel, startTestGateway, type TestGateway } from "../testing/gateway.ts";
import { temporaryHome } from "../testing/home.ts";
import { obey, run } from "../testing/obedient-model.ts";
import type { Cost } from "./cost.ts";
import { costsFolder } from "./ledger.ts";
import { dayOf } from "./line.ts";
import type { Usage } from "./usage.ts";

/** US dollars per million tokens. */
const PRICES = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };
const API = "anthropic-messages";
const COMPACT = { kind: "command", name: "compact", args: "" } as const;
const LONG = "The tide was high and the harbour full of boats. ".repeat(200);

interface Setting {
  home?: string;
  caps?: object;
  cost?: object | null;
  answers?: EmulatorOptions["answers"];
  defaults?: object;
  /** Tokens. */
  window?: number;
}

async function gatewayWith({
  caps = {},
  cost = PRICES,
  answers = [{ text: "Fine." }],
  defaults = {},
  window = 200_000,
  ...given
}: Setting) {
  const home = given.home ?? (await temporaryHome());
  const server = await createEmulator(API, {
    ...{ answers, cacheMinimumTokens: 16, tolerant: true },
    prices: { fresh: 3, read: 0.3, written: 3.75, writtenLong: 6, output: 15 },
  });
  onTestFinished(() => server.close());
  const config = {
    agents: { defaults: { model: "lab/m", ...defaults } },
    gateway: { costCaps: caps },
    models: {
      providers: {
        lab: {
          ...{ api: API, baseUrl: server.baseUrl, apiKey: "key-for-tests" },
          models: [
            {
              ...{ id: "m", contextWindow: window, ...(cost !== null && { cost }) },
              profile: { cache: { how: "marks", marks: 4, minTokens: 16 } },
            },
          ],
        },
      },
    },
  };
  await writeFile(join(home, "clew.json"), JSON.stringify(config));
  const start = () => startTestGateway(config, home);
  return { server, ...(await start()) };
}

type Done = { outcome: string; error: { code?: string; message: string } | null } & {
  cost?: {
    turn: { cost: Cost; unknown: number };
    session: { dollars: number; modelCalls: number };
  };
};
const saying =
  ({ say }: Pick<TestGateway, "say">) =>
  async (text: string, session = "main") => {
    const { events } = await say(text, { session });
    const notices = events.flatMap((event) =>
      event.type === "notice" ? [String(event.text)] : [],
    );
    return { notices, done: events.at(-1) as unknown as Done };
  };
const usageAt = async ({ get }: Pick<TestGateway, "get">, path: string) =>
  (await (await get(path)).json()) as Usage;

describe("a call that breaks off", () => {
  it("is counted by what was sent, also by a cap, and is told to be estimated", async () => {
    const server = await createEmulator("openai-completions", {
      answers: () => ({ fault: "cut", text: "The tide was high." }),
    });
    onTestFinished(() => server.close());
    const models = emulatedModel(server.baseUrl, { cost: PRICES });
    const config = { ...models, gateway: { costCaps: { sessionDollars: 0.01 } } };
    const host = await startTestGateway(config);
    await writeFile(join(host.home, "clew.json"), JSON.stringify(config));
    const say = saying(host);
    const outcomes: string[] = [];
    for (let turn = 0; turn < 6; turn++) {
      const { done } = await say(`${turn} ${LONG}`);
      outcomes.push(done.error?.code ?? done.outcome);
    }
    expect(outcomes).toContain("COST_CAP_REACHED");
    const { total } = await usageAt(host, "/api/usage");
    expect(total).toMatchObject({ unknown: 0 });
    expect(total.estimated).toBe(total.modelCalls);
    expect(total.cost.total).toBeGreaterThanOrEqual(0.01);
    const sent = total.tokens.input;
    expect(total.cost.input).toBeCloseTo((sent * 3) / 1e6, 10);
    expect((await clew(host.home, ["usage"])).output).toContain("what was sent is estimated");
  });
});

describe("a call that is answered, and of which its provider does not count the prompt", () => {
  it.each([
    ["no count at all", null],
    ["a count of the reply alone", { prompt: 0, completion: 35 }],
  ])("is counted by what was sent, also by a cap: %s", async (_what, usage) => {
    const answers = () => ({ text: "The tide was high.", usage });
    const host = await gatewayWith({ answers, caps: { sessionDollars: 0.02 } });
    const say = saying(host);
    const outcomes: string[] = [];
    for (let turn = 0; turn < 6; turn++) {
      const { done } = await say(`${turn} ${LONG}`);
      outcomes.push(done.error?.code ?? done.outcome);
    }
    expect(outcomes[0]).toBe("completed");
    expect(outcomes).toContain("COST_CAP_REACHED");
    const { total } = await usageAt(host, "/api/usage");
    expect(total).toMatchObject({ unknown: 0, failed: 0, estimated: total.modelCalls });
    expect(total.tokens.input).toBeGreaterThan(LONG.length / 10);
    expect(total.cost.input).toBeCloseTo((total.tokens.input * 3) / 1e6, 10);
    const { calls } = (await (await host.get("/api/sessions/main/calls")).json()) as {
      calls: { isCounted: boolean; cost: Cost }[];
    };
    expect(calls.map(({ isCounted }) => isCounted)).toEqual(calls.map(() => false));
    const told = calls.reduce((sum, { cost }) => sum + cost.total, 0);
    expect(told).toBeCloseTo(total.cost.total, 10);
    const { output } = await clew(host.home, ["usage"]);
    expect(output).toContain(
      `of ${total.modelCalls} calls no provider said what was counted, and what was sent is estimated`,
    );
  });
});

describe("what was written down of money spent", () => {
  it("is missed where it was removed, as reports tell that models were asked", async () => {
    const host = await gatewayWith({});
    const nobody = (await clew(host.home, ["usage"])).output;
    expect(nobody).toBe("No model was asked yet.");
    await saying(host)("Hello");
    await host.stop();
    await rm(costsFolder(host.home), { recursive: true });
    for (const about of [[], ["main"]]) {
      const { output } = await clew(host.home, ["usage", ...about]);
      expect(output).toMatch(
        /^What model calls cost is not known: 1 session asked a model, .* was removed\.$/,
      );
    }
  });
});

describe("a cap that one turn goes beyond", () => {
  it("is warned of by that turn, though none came near before", async () => {
    const host = await gatewayWith({ caps: { sessionDollars: 0.0001 } });
    const { notices, done } = await saying(host)(LONG);
    expect(done.outcome).toBe("completed");
    expect(notices).toEqual([expect.stringContaining("at $0.0001 no model is asked any more")]);
  });

  it("is warned of once while it comes near, also behind a restart", async () => {
    const near = { sessionDollars: 0.0095, agentDayDollars: 0.0095, dayDollars: 0.0095 };
    const host = await gatewayWith({ caps: near });
    const { home } = host;
    const told: number[] = [];
    for (const text of [LONG, "Go on.", "And?"])
      told.push((await saying(host)(text)).notices.length);
    await host.stop();
    const again = await startTestGateway(
      JSON.parse(await readFile(join(home, "clew.json"), "utf8")),
      home,
    );
    told.push((await saying(again)("So?")).notices.length);
    await again.stop();
    expect(told).toEqual([3, 0, 0, 0]);
  });
});

describe("what a session cost", () => {
  it("is what its provider bills, cached share included, wherever it is told", async () => {
    const host = await gatewayWith({});
    const say = saying(host);
    let session = 0;
    for (const text of [LONG, "And now?", `${LONG} And then?`, "So?"]) {
      const { cost } = (await say(text)).done;
      session += cost!.turn.cost.total;
      expect(cost!.session.dollars).toBeCloseTo(session, 10);
    }
    await say("Hello?", "other");
    const { server, home } = host;
    // By hand: what the server counted, at the prices of the test.
    const billed = server.requests.map(({ bill }) => bill!);
    const counted = billed.reduce(
      (sum, bill) => ({
        input: sum.input + bill.fresh,
        cacheRead: sum.cacheRead + bill.read,
        cacheWrite: sum.cacheWrite + bill.written,
        output: sum.output + bill.output,
      }),
      { input: 0, cacheRead: 0, cacheWrite: 0, output: 0 },
    );
    const dollars =
      (counted.input * 3 +
        counted.cacheRead * 0.3 +
        counted.cacheWrite * 3.75 +
        counted.output * 15) /
      1e6;
    expect(counted.cacheRead).toBeGreaterThan(1_000);
    expect(counted.cacheWrite).toBeGreaterThan(1_000);
    expect(server.bill.cost).toBeCloseTo(dollars, 10);

    const all = await usageAt(host, "/api/usage");
    expect(all.total).toMatchObject({ modelCalls: 5, failed: 0, unknown: 0, tokens: counted });
    expect(all.total.cost.total).toBeCloseTo(dollars, 10);
    expect(all.models.map(({ name }) => name)).toEqual(["lab/m"]);
    expect(all.engines.map(({ name }) => name)).toEqual(["legacy"]);
    expect(all.days.map(({ name }) => name)).toEqual([dayOf(Date.now())]);
    for (const list of [all.sessions, all.models, all.engines, all.days]) {
      const sum = list.reduce((total, each) => total + each.cost.total, 0);
      expect(sum).toBeCloseTo(dollars, 10);
    }
    const main = await usageAt(host, "/api/sessions/main/usage");
    expect(main.total.cost.total).toBeCloseTo(session, 10);
    expect((await host.get("/api/sessions/nobody/usage")).status).toBe(404);

    const { output } = await clew(home, ["usage", "main", "--json"]);
    expect(JSON.parse(output)).toEqual(main);
    expect(JSON.parse((await clew(home, ["usage", "--json"])).output)).toEqual(all);
    const text = (await clew(home, ["usage"])).output;
    expect(text).toContain("for 5 model calls");
    expect(await clew(home, ["usage", "nobody"])).toMatchObject({ code: 1 });

    const status = await host.gateway.command("main", {
      ...{ kind: "command", name: "status", args: "" },
    });
    expect(status.data).toMatchObject({ cost: { spent: { modelCalls: 4 } } });
    const { spent } = (status.data as { cost: { spent: { dollars: number } } }).cost;
    expect(spent.dollars).toBeCloseTo(session, 10);
    expect(status.text).toMatch(/\nCost: \$0\.\d+ for 4 model calls of this session, \d+ %/);

    const rows = (await (await host.get("/api/sessions/main/calls")).json()) as {
      calls: { cost: Cost }[];
    };
    expect(rows.calls).toHaveLength(4);
    expect(rows.calls.reduce((sum, { cost }) => sum + cost.total, 0)).toBeCloseTo(session, 10);

    // The transcript and the reports hold the same.
    const found = (await host.gateway.session("main"))!;
    const stored = found.branch.flatMap((entry) =>
      entry.type === "message" && entry.message.role === "assistant" ? [entry.message.usage!] : [],
    );
    expect(stored.reduce((sum, { cost }) => sum + cost!.total, 0)).toBeCloseTo(session, 10);
    let reported = 0;
    await readReports(
      agentPaths(home, "main").reports,
      found.sessionId,
      REPORTS_START,
      ({ report }) => {
        reported += costOfTurn(report).cost.total;
      },
    );
    expect(reported).toBeCloseTo(session, 10);
  });

  it("holds summaries, which the report of their turn names", async () => {
    const host = await gatewayWith({ answers: [{ text: "The goal was to see the harbour." }] });
    const say = saying(host);
    for (const part of [1, 2, 3, 4, 5, 6]) await say(`${part} ${LONG.repeat(4)}`);
    const before = (await usageAt(host, "/api/usage")).total;
    const compacted = await host.gateway.command("main", COMPACT);
    expect(compacted.ok).toBe(true);
    const { total, engines } = await usageAt(host, "/api/usage");
    expect(before.sideCalls).toBe(0);
    expect(total.sideCalls).toBeGreaterThan(0);
    expect(total.cost.total).toBeCloseTo(host.server.bill.cost, 10);
    expect(total.cost.summariser).toBeCloseTo(host.server.bill.cost - before.cost.total, 10);
    expect(total.cost.summariser).toBeGreaterThan(0);
    expect(engines).toHaveLength(1);
    const { sessionId } = (await host.gateway.session("main"))!;
    const sides: unknown[] = [];
    await readReports(
      agentPaths(host.home, "main").reports,
      sessionId,
      REPORTS_START,
      ({ report }) => void sides.push(...(report.sideCalls ?? [])),
    );
    expect(sides).toHaveLength(total.sideCalls);
    expect(sides[0]).toMatchObject({ for: "compaction", model: "lab/m", afterCalls: 0 });
  });

  it("is not known where the prices are not, and never nothing", async () => {
    const host = await gatewayWith({ cost: null, caps: { sessionDollars: 1 } });
    const { done, notices } = await saying(host)("Hello");
    expect(done.cost).toMatchObject({
      turn: { unknown: 1 },
      session: { dollars: 0, modelCalls: 1 },
    });
    expect(notices).toEqual([
      "The cost caps do not count lab/m, as its prices are not known; the settings of its server can name them (models[].cost).",
    ]);
    expect((await saying(host)("Again")).notices).toEqual([]);
    expect((await clew(host.home, ["usage"])).output).toMatch(/^not known for 2 model calls, /);
    const status = await host.gateway.command("main", {
      ...{ kind: "command", name: "status", args: "" },
    });
    expect(status.text).toContain("Cost: not known for 2 model calls of this session");
  });

  it("is told with what was refused as too large, and what failed, which cost nothing", async () => {
    const answers = (_: unknown, index: number) =>
      index === 0 ? ({ fault: "status", status: 400 } as const) : { text: "Fine." };
    const host = await gatewayWith({ answers });
    await saying(host)("Hello");
    const { total } = await usageAt(host, "/api/usage");
    expect(total).toMatchObject({ modelCalls: 1, failed: 1, unknown: 0, cost: { total: 0 } });
    expect(total.waste.resent).toMatchObject({ calls: 1, dollars: 0 });
    expect(total.waste.resent.tokens).toBeGreaterThan(100);
  });
});

describe("a cost cap", () => {
  it("is said to come near once, then stops before the next call, and counts at once when raised", async () => {
    const host = await gatewayWith({});
    const first = await saying(host)(LONG);
    const dollars = first.done.cost!.session.dollars;
    await host.stop();

    // After a restart, and with what was spent before there was a cap.
    const caps = { sessionDollars: dollars * 1.1 };
    const next = await gatewayWith({ home: host.home, caps });
    const say = saying(next);
    const near = await say("And now?");
    expect(near.notices).toEqual([
      expect.stringMatching(/^The cost cap of session "main" is spent to 90 %/),
    ]);
    expect(near.done.outcome).toBe("completed");
    let last = near;
    for (let turn = 0; turn < 20 && last.done.outcome === "completed"; turn++) {
      last = await say("And then?");
      expect(last.notices).toEqual([]);
    }
    const asked = next.server.requests.length;
    expect(last.done).toMatchObject({
      outcome: "failed",
      error: {
        code: "COST_CAP_REACHED",
        message: expect.stringMatching(
          /^The cost cap of session "main" is spent to 1\d\d %, \$0\.\d+ of \$0\.\d+, so no model was asked: raise it with "clew config set gateway\.costCaps\.sessionDollars [\d.]+", or begin anew with \/new\.$/,
        ),
      },
    });
    await say("And then?");
    expect(next.server.requests).toHaveLength(asked);
    // Another session goes on.
    expect((await say("Hello", "other")).done.outcome).toBe("completed");

    const raise = /"clew (config set \S+ \S+)"/.exec(last.done.error!.message)![1]!.split(" ");
    expect(await clew(host.home, raise)).toMatchObject({ code: 0 });
    expect((await say("And then?")).done.outcome).toBe("completed");
  });

  it("is what a turn is told of whose messages would not fit either", async () => {
    const host = await gatewayWith({ caps: { sessionDollars: 0.0001 }, window: 20_000 });
    const say = saying(host);
    expect((await say("Hello")).done.outcome).toBe("completed");
    const { length } = host.server.requests;
    for (let turn = 0; turn < 4; turn++) {
      const { done } = await say(`${turn} ${LONG.repeat(3)}`);
      expect(done.error).toMatchObject({ code: "COST_CAP_REACHED" });
      expect(done.error!.message).toMatch(/^The cost cap of session "main" is spent to/);
    }
    expect(host.server.requests).toHaveLength(length);
    const { calls, since } = CallPageSchema.parse(
      await (await host.get("/api/sessions/main/calls")).json(),
    );
    expect([calls.length, since.unanswered.length]).toEqual([1, 4]);
  });

  it("counts at once where there was none, and where it is lowered", async () => {
    const host = await gatewayWith({});
    const say = saying(host);
    const set = async (dollars: number) =>
      (await clew(host.home, ["config", "set", "gateway.costCaps.sessionDollars", `${dollars}`]))
        .output;
    const spent = (await say(LONG)).done.cost!.session.dollars;
    expect(await set(spent / 2)).toContain("reads it before its next model call");
    expect((await say("And now?")).done.error?.code).toBe("COST_CAP_REACHED");
    await set(spent * 10);
    expect((await say("And now?")).done.outcome).toBe("completed");
    await set(spent / 3);
    expect((await say("And then?")).done.error?.code).toBe("COST_CAP_REACHED");
    await clew(host.home, ["config", "unset", "gateway.costCaps.sessionDollars"]);
    expect((await say("And then?")).done.outcome).toBe("completed");
  });

  it("begins anew with the session, and what was spent is its archive's", async () => {
    const host = await gatewayWith({ caps: { sessionDollars: 0.001 } });
    const say = saying(host);
    await say(LONG);
    expect((await say("More?")).done.error?.code).toBe("COST_CAP_REACHED");
    await host.gateway.command("main", { kind: "command", name: "new", args: "" });
    expect((await say("Hello")).done.outcome).toBe("completed");
    const { sessions } = await usageAt(host, "/api/usage");
    expect(sessions.map(({ name }) => name)).toEqual([
      expect.stringMatching(/^agent:main:main\.\d{8}-\d{6}$/),
      "agent:main:main",
    ]);
    const archive = await usageAt(host, `/api/sessions/${sessions[0]!.name}/usage`);
    expect(archive.total).toEqual({ ...sessions[0], name: undefined });
  });

  it("counts nothing for who takes the name of a deleted session, which the sums still hold", async () => {
    const host = await gatewayWith({ caps: { sessionDollars: 0.001 } });
    const say = saying(host);
    const spent = (await say(LONG)).done.cost!.session.dollars;
    expect((await say("More?")).done.error?.code).toBe("COST_CAP_REACHED");
    await host.gateway.remove("main");
    const { done } = await say("Hello");
    expect(done.outcome).toBe("completed");
    const { dollars } = done.cost!.session;
    expect(dollars).toBe(done.cost!.turn.cost.total);
    const { sessions } = await usageAt(host, "/api/usage");
    expect(sessions.map(({ name }) => name)).toEqual(["agent:main:main"]);
    expect(sessions[0]!.cost.total).toBeCloseTo(spent + dollars, 8);
  });

  it("counts what a session starts, which it stops, too", async () => {
    const answers = (request: { body: unknown }) => obey(request as never);
    const host = await gatewayWith({ answers: answers as never, caps: { sessionDollars: 50 } });
    const say = saying(host);
    await say(run("sessions_spawn", { task: "count to three", wait: true }));
    const { sessions, total } = await usageAt(host, "/api/sessions/main/usage");
    expect(sessions).toHaveLength(2);
    expect((await host.gateway.spentIn("main")).dollars).toBeCloseTo(total.cost.total, 10);
    const child = sessions.find(({ name }) => name.includes(":subagent:"))!;
    expect(child.cost.total).toBeGreaterThan(0);
    expect((await host.gateway.spentIn(child.name)).dollars).toBeCloseTo(total.cost.total, 10);
  });

  it("stops a summary without stopping the compaction", async () => {
    const host = await gatewayWith({});
    const say = saying(host);
    for (const part of [1, 2, 3, 4, 5, 6]) await say(`${part} ${LONG.repeat(4)}`);
    await host.stop();
    const next = await gatewayWith({ home: host.home, caps: { dayDollars: 0.0001 } });
    const { text } = await next.gateway.command("main", COMPACT);
    expect(next.server.requests).toHaveLength(0);
    expect(text).toMatch(/refused/);
  });

  it("of an agent or of all is for one day, and goes by what other processes spent", async () => {
    const host = await gatewayWith({ caps: { agentDayDollars: 1, dayDollars: 2 } });
    const say = saying(host);
    expect((await say("Hello")).done.outcome).toBe("completed");
    const file = join(costsFolder(host.home), `${dayOf(Date.now())}.jsonl`);
    const [begun, line] = (await readFile(file, "utf8"))
      .split("\n", 2)
      .map((one) => JSON.parse(one));
    expect([begun.kind, line.kind, line.id]).toEqual(["begun", "call", begun.id]);
    const other = { ...line, session: "x", root: "x", cost: { ...line.cost, total: 1 } };
    const yesterday = join(costsFolder(host.home), `${dayOf(Date.now() - 86_400_000)}.jsonl`);
    await appendFile(yesterday, `${JSON.stringify(other)}\n`);
    expect((await say("Hello")).done.outcome).toBe("completed");
    await appendFile(file, `${JSON.stringify({ ...other, agent: "other" })}\n`);
    expect((await say("Hello")).done.outcome).toBe("completed");
    await appendFile(file, `${JSON.stringify(other)}\n`);
    expect((await say("Hello")).done.error?.message).toMatch(
      /^The cost cap of agent "main" for today/,
    );
  });
});

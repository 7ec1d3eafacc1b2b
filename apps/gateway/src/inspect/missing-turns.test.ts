import { writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Usage } from "../costs/usage.ts";
import { checkSessions } from "../doctor/check-sessions.ts";
import { clew } from "../testing/command.ts";
import { startTestGateway } from "../testing/gateway.ts";
import { heldModel } from "../testing/held-model.ts";
import { asKilled } from "../testing/killed-home.ts";
import { reportedTurns } from "../testing/reported-turns.ts";
import { findMissing } from "./missing-turns.ts";
import { CallPageSchema } from "./shapes/calls.ts";

/** A gateway whose model the test answers for, in a home that a gateway was killed in. */
async function killedIn({ turns, cost }: { turns: number; cost?: object }) {
  const { config, asked } = await heldModel(cost && { cost });
  const { home, say, get } = await startTestGateway(config);
  const answer = async (told: Promise<unknown>, text: string) => {
    const reply = await asked();
    reply.say(text);
    reply.finish();
    await told;
  };
  for (let turn = 1; turn <= turns; turn++) await answer(say(`No. ${turn}`), "Noted.");
  const last = say("What did I say, KEY-4711?");
  for (let call = 1; call <= 2; call++)
    (await asked()).callTool("session_search", { query: `no. ${call}` });
  const reply = await asked();
  const running = CallPageSchema.parse(await (await get("/api/sessions/main/calls")).json());
  const killed = await asKilled(home);
  reply.finish();
  await last;
  const inspect = async (...args: string[]) =>
    (await clew(killed, ["inspect", "main", ...args])).output;
  return { config, asked, answer, killed, running, inspect };
}

describe("a turn whose report is missing", () => {
  it("is told with its replies and what it cost where the gateway was killed in it", async () => {
    const { running, inspect, killed } = await killedIn({ turns: 2 });
    expect(running.missingTurns).toEqual([]);
    const page = CallPageSchema.parse(JSON.parse(await inspect("--json")));
    expect(page.missingTurns).toMatchObject([{ turn: 3, replies: 2, calls: 2 }]);
    const text = await inspect();
    expect(text).toContain("The report of turn 3 of ");
    expect(text).toMatch(
      /is missing: the gateway ended in it, .*; 2 replies stored, 2 model calls/,
    );
    expect(text).toMatch(/2 calls in 2 turns, at least [\d,]+ tokens sent\./);
    expect(text).not.toContain("Every entry was shown");
    const findings = await checkSessions({ home: killed, fix: false });
    const finding = findings.find(({ code }) => code === "session-reports-missing")!;
    expect(finding).toMatchObject({ level: "warning", subject: 'reports of session "main"' });
    expect(finding.text).toMatch(/^The report of turn 3 of .*; 2 replies stored/);
  });

  it("leaves one sum everywhere, which is at least so much, as a call had begun", async () => {
    const cost = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };
    const { config, killed, inspect } = await killedIn({ turns: 2, cost });
    const page = CallPageSchema.parse(JSON.parse(await inspect("--json")));
    expect(page.missingTurns).toMatchObject([{ calls: 2, unended: 1 }]);
    const told = page.calls.map((row) => row.cost!.total);
    const inspected = [...told, page.missingTurns[0]!.cost!.total].reduce((sum, one) => sum + one);
    const usage = async () => (await clew(killed, ["usage", "main"])).output;
    const { total } = JSON.parse((await clew(killed, ["usage", "main", "--json"])).output) as Usage;
    expect(total).toMatchObject({ modelCalls: 4, unended: 1 });
    expect(total.cost.total).toBeCloseTo(inspected, 10);
    const more = /; 1 more call is not in it: it began, and how it ended is not written down\./;
    expect(await usage()).toMatch(/^At least \$0\.\d+ for 4 model calls/);
    expect(await usage()).toMatch(more);
    const sum = /^At least (\S+)/.exec(await usage())![1]!;
    const text = await inspect();
    expect(text).toContain(`Cost: at least ${sum}, `);
    expect(text).toMatch(more);
    expect(text).toMatch(/\$0\.\d+, and of 1 call only that it began\./);
    const { gateway } = await startTestGateway(config, killed);
    const command = { kind: "command", name: "status", args: "" } as const;
    expect((await gateway.command("main", command)).text).toContain(`Cost: at least ${sum} for 4`);
  });

  it("is none where replies came from elsewhere, and were not paid here", async () => {
    const { say, gateway, stop } = await startTestGateway();
    await say("Hello.");
    const { branch } = (await gateway.store.read("agent:main:main"))!;
    await stop();
    const found = await findMissing(
      { branch, paidSince: async () => [] },
      { turns: [], gone: [], unreadable: [], letGo: 0, newest: 0 },
    );
    expect(found).toEqual([]);
  });

  it("is told by /context and with the last call, until a later one has a report", async () => {
    const { config, killed, asked } = await killedIn({ turns: 2 });
    const { say, get } = await startTestGateway(config, killed);
    const read = async () => (await get("/api/sessions/main/context")).json();
    expect(await read()).toMatchObject({ missingTurns: [{ turn: 3, replies: 2, calls: 2 }] });
    const text = async () => JSON.stringify(await say("/context"));
    expect(await text()).toMatch(/The report of turn 3 of [^"]* is missing: /);
    const told = say("And now?");
    const reply = await asked();
    expect(await read()).toMatchObject({ missingTurns: [{ turn: 3 }] });
    reply.say("Again.");
    reply.finish();
    await told;
    expect(await read()).toMatchObject({ missingTurns: [] });
    expect(await text()).not.toContain("is missing");
  });

  it("is told where it was the first, of which there is no report at all", async () => {
    const { inspect } = await killedIn({ turns: 0 });
    expect(await inspect()).toMatch(/The report of a turn of .* is missing: .*; 2 replies stored/);
  });

  it("keeps its number, so that no later call has the name that its calls had", async () => {
    const { config, killed, running, asked, answer } = await killedIn({ turns: 2 });
    expect(running.calls.map(({ id }) => id)).toEqual(["1.1", "2.1", "3.1", "3.2", "3.3"]);
    const { say, get } = await startTestGateway(config, killed);
    const told = say("And now?");
    await answer(told, "Again.");
    void asked;
    const page = CallPageSchema.parse(await (await get("/api/sessions/main/calls")).json());
    expect(page.calls.map(({ id }) => id)).toEqual(["1.1", "2.1", "4.1"]);
    expect(page.missingTurns).toMatchObject([{ turn: 3, replies: 2, calls: 2 }]);
    expect(page.calls[2]).toMatchObject({ lost: null });
    expect(page.calls[2]!.happened[0]).toContain("the report of a turn before it is missing");
  });

  it("is told where reports were cut at their end, in a line or between two", async () => {
    const { file, lines, page } = await reportedTurns(12);
    expect(await page()).toMatchObject({ total: 12, missingTurns: [], unreadableTurns: [] });
    writeFileSync(file, `${lines.slice(0, 9).join("\n")}\n`);
    const cut = await page();
    expect(cut.total).toBe(9);
    expect(cut.missingTurns.map(({ turn, replies }) => [turn, replies])).toEqual([
      [10, 1],
      [11, 1],
      [12, 1],
    ]);
    writeFileSync(file, lines.join("\n").slice(0, -20));
    expect((await page()).missingTurns).toMatchObject([{ turn: 12, replies: 1 }]);
  });
});

import { appendFile, readdir, readFile, rename, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { LogPort } from "@clew/engine-core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { temporaryHome } from "../testing/home.ts";
import { NO_COST } from "./cost.ts";
import { describeUsage } from "./describe-usage.ts";
import { costsFolder, createCostLedger, readCosts } from "./ledger.ts";
import { type CallLine, dayOf } from "./line.ts";
import { nothingSpent, spentOn } from "./totals.ts";
import { type DatedLine, sumUsage } from "./usage.ts";

const NOON = new Date(2026, 2, 5, 12).getTime();
const DAY = 86_400_000;
const quiet: LogPort = { info() {}, warn() {}, error() {} };

const call = (
  dollars: number | null,
  about: Partial<CallLine> & { ms?: number } = {},
): CallLine => {
  const { ms = NOON, ...more } = about;
  return {
    ...{ kind: "call", v: 1, at: new Date(ms).toISOString(), agent: "main" },
    ...{ session: "s", root: "s", engine: "legacy", model: "p/m", for: "reply", plugin: null },
    ...{ input: 100, cacheRead: 300, cacheWrite: 0, output: 10, failure: null },
    cost: dollars === null ? null : { ...NO_COST, output: dollars, total: dollars },
    ...more,
  };
};

async function home() {
  const folder = await temporaryHome();
  const start = (ms = NOON, log = quiet) => createCostLedger({ home: folder, log, now: () => ms });
  const file = (ms = NOON) => join(costsFolder(folder), `${dayOf(ms)}.jsonl`);
  return { folder, start, file };
}

describe("what was spent", () => {
  it("is added up by the session that nobody started, by agent and by day", async () => {
    const { start } = await home();
    const ledger = start();
    await ledger.append(call(0.25));
    await ledger.append(call(0.5, { session: "child", agent: "other" }));
    await ledger.append(call(null, { failure: "network" }));
    const totals = await ledger.totals();
    expect(totals.sessions).toEqual({
      s: {
        ...nothingSpent(),
        ...{ dollars: 0.75, unknown: 1, modelCalls: 3, prompt: 1200, fromCache: 900 },
      },
    });
    expect(totals.days[dayOf(NOON)]).toMatchObject({
      ...{ main: { dollars: 0.25, unknown: 1 }, other: { dollars: 0.5, unknown: 0 } },
    });
    expect(spentOn(totals, dayOf(NOON))).toEqual({ dollars: 0.75, unknown: 1, modelCalls: 3 });
  });

  it("of which a line cannot be read is told as at least so much", async () => {
    const { folder, start, file } = await home();
    const ledger = start();
    await ledger.append(call(0.25));
    await ledger.close();
    await appendFile(file(), '{"kind":"call","v":1,"at":"20\n');
    for (const session of [undefined, "s"]) {
      const usage = await sumUsage(readCosts(folder), session);
      expect(usage.untold).toMatchObject({ turns: 0, lines: 1 });
      expect(describeUsage(usage, session)).toMatch(
        /^At least \$0\.25 for 1 model call.* \(1 line of what was written down cannot be read\)\.$/m,
      );
    }
  });

  it("is not called the least of what nobody knows the price of", async () => {
    const { folder, start, file } = await home();
    const ledger = start();
    await ledger.append(call(null));
    await ledger.close();
    await appendFile(file(), '{"kind":"call","v":1,"at":"20\n');
    const usage = await sumUsage(readCosts(folder), undefined);
    expect(describeUsage(usage, undefined)).toMatch(
      /^not known for 1 model call.* cannot be read\)\.$/m,
    );
  });

  it("is the same after an orderly end, after none, and without what was kept of it", async () => {
    const { folder, start } = await home();
    const first = start();
    await first.append(call(1));
    await first.totals();
    await first.close();
    const second = start();
    await second.append(call(2));
    expect((await second.totals()).sessions.s?.dollars).toBe(3);
    expect((await start().totals()).sessions.s?.dollars).toBe(3);
    await rm(join(costsFolder(folder), "totals.json"));
    expect((await start().totals()).sessions.s?.dollars).toBe(3);
    await writeFile(join(costsFolder(folder), "totals.json"), "{");
    expect((await start().totals()).sessions.s?.dollars).toBe(3);
  });

  it("counts a line that broke off not at all, and the next one whole", async () => {
    const { start, file } = await home();
    const ledger = start();
    await ledger.append(call(1));
    await appendFile(file(), '{"kind":"call","v":1,"cost":{"total":99');
    expect((await ledger.totals()).sessions.s?.dollars).toBe(1);
    await ledger.append(call(2));
    expect((await ledger.totals()).sessions.s?.dollars).toBe(3);
    expect((await start().totals()).sessions.s?.dollars).toBe(3);
  });

  it("of a session stays when the day is over, of an agent it begins anew", async () => {
    const { start, folder } = await home();
    let now = NOON;
    const ledger = createCostLedger({ home: folder, log: quiet, now: () => now });
    await ledger.append(call(1));
    await ledger.totals();
    for (now += DAY; now <= NOON + 3 * DAY; now += DAY) {
      await ledger.append(call(1, { ms: now }));
      // Another process, whose day was not over yet when it asked.
      await start(now - DAY).append(call(1, { ms: now - DAY }));
      expect(spentOn(await ledger.totals(), dayOf(now)).dollars).toBe(1);
    }
    const all = await ledger.totals();
    expect(all.sessions.s?.dollars).toBe(7);
    expect(Object.keys(all.days)).toEqual([dayOf(NOON + 2 * DAY), dayOf(NOON + 3 * DAY)]);
    await ledger.close();
    expect((await start(NOON + 9 * DAY).totals()).sessions.s?.dollars).toBe(7);
    const told: number[] = [];
    for await (const { line } of readCosts(folder, dayOf(NOON + 2 * DAY)))
      if (line.kind === "call") told.push(line.cost!.total);
    expect(told).toHaveLength(3);
  });

  it("tells of calls that began and did not end, behind a restart too, until the session is new", async () => {
    const { folder, start } = await home();
    const ledger = start();
    const begun = (id: string, root = "s") => {
      const { at, agent, engine, model } = call(0);
      return { ...{ kind: "begun" as const, v: 1 as const, at, agent, engine, model }, id, root };
    };
    await ledger.append({ ...begun("a"), session: "s" });
    await ledger.append({ ...call(0.25), id: "a" });
    await ledger.append({ ...begun("b"), session: "child" });
    await ledger.append({ ...begun("c", "other"), session: "other" });
    expect((await ledger.totals()).sessions).toMatchObject({
      ...{ s: { unended: 1, modelCalls: 1, dollars: 0.25 }, other: { unended: 1, modelCalls: 0 } },
    });
    await ledger.close();
    const again = start();
    await again.append({ ...call(0.5, { session: "child" }), id: "b" });
    expect((await again.totals()).sessions).toMatchObject({ s: { unended: 0, modelCalls: 2 } });
    const lines: DatedLine[] = [];
    for await (const line of readCosts(folder)) lines.push(line);
    const { total, sessions } = await sumUsage(lines);
    expect(total).toMatchObject({ unended: 1, modelCalls: 2 });
    expect(sessions.map(({ name, unended }) => [name, unended])).toContainEqual(["other", 1]);
    expect((await sumUsage(lines, "s")).total.unended).toBe(0);
    expect((await sumUsage(lines, undefined, new Set(["c"]))).total.unended).toBe(0);
    const at = new Date(NOON).toISOString();
    await again.append({ kind: "renewed", v: 1, at, session: "other", archivedAs: "other.1" });
    expect((await again.totals()).open).toEqual({});
  });

  it("begins anew with the session, as do the warnings about it", async () => {
    const { start } = await home();
    const ledger = start();
    const at = new Date(NOON).toISOString();
    await ledger.append(call(1));
    await ledger.append(call(1, { session: "t", root: "t" }));
    await ledger.append({ kind: "warned", v: 1, at, cap: "session s 2" });
    await ledger.append({ kind: "warned", v: 1, at, cap: "session st 2" });
    await ledger.append({
      kind: "renewed",
      v: 1,
      at,
      session: "s",
      archivedAs: "s.20260305-120000",
    });
    await ledger.append(call(4));
    const { sessions, warned } = await ledger.totals();
    expect([sessions.s?.dollars, sessions.t?.dollars]).toEqual([4, 1]);
    expect(Object.keys(warned)).toEqual(["session st 2"]);
  });

  it("is kept of its days alone once sessions are deleted, however many there were", async () => {
    const { folder, start } = await home();
    const ledger = start();
    const { at, agent, engine, model } = call(0);
    const who = { v: 1 as const, at, agent, engine, model };
    for (let number = 0; number < 50; number++) {
      const session = `gone-${number}`;
      await ledger.append(call(1, { session, root: session }));
      await ledger.append({ kind: "begun", ...who, session, root: session, id: session });
      await ledger.append({ kind: "warned", v: 1, at, cap: `session ${session} 2` });
      await ledger.append({ kind: "deleted", v: 1, at, session });
    }
    const totals = await ledger.totals();
    expect([totals.sessions, totals.open, totals.warned]).toEqual([{}, {}, {}]);
    expect(spentOn(totals, dayOf(NOON)).dollars).toBe(50);
    await ledger.close();
    expect(await start().totals()).toEqual(totals);
    const lines: DatedLine[] = [];
    for await (const line of readCosts(folder)) lines.push(line);
    const { sessions, total } = await sumUsage(lines);
    expect([sessions.length, total.cost.total, total.unended]).toEqual([50, 50, 50]);
    expect((await sumUsage(lines, "gone-7")).total.cost.total).toBe(1);
  });

  it("is counted anew where a file is shorter than it was", async () => {
    const { start, file } = await home();
    const ledger = start();
    await ledger.append(call(1));
    await ledger.append(call(2));
    await ledger.totals();
    await truncate(file(), 0);
    await ledger.append(call(4));
    const said: string[] = [];
    const other = start(NOON, { ...quiet, warn: (text) => void said.push(text) });
    expect((await ledger.totals()).sessions.s?.dollars).toBe(4);
    expect((await other.totals()).sessions.s?.dollars).toBe(4);
    expect(said).toEqual([]);
  });

  it("is written to the file that has the name, also when another program put it there", async () => {
    const { start, file } = await home();
    const ledger = start();
    await ledger.append(call(1));
    await ledger.totals();
    const text = await readFile(file(), "utf8");
    await rm(file());
    await ledger.append(call(2));
    expect((await ledger.totals()).sessions.s?.dollars).toBe(2);
    await rm(file());
    await writeFile(file(), text.repeat(3));
    await ledger.append(call(4));
    expect((await ledger.totals()).sessions.s?.dollars).toBe(7);
    await ledger.close();
    expect((await start().totals()).sessions.s?.dollars).toBe(7);
  });

  it("of days before is counted, also where the first line of all could not be written", async () => {
    const { folder, start } = await home();
    await start(NOON - DAY).append(call(1, { ms: NOON - DAY }));
    await rename(costsFolder(folder), `${costsFolder(folder)}.away`);
    await writeFile(costsFolder(folder), "");
    const ledger = start();
    await ledger.append(call(2));
    await rm(costsFolder(folder));
    await rename(`${costsFolder(folder)}.away`, costsFolder(folder));
    await ledger.append(call(4));
    expect((await ledger.totals()).sessions.s?.dollars).toBe(7);
  });

  it("is counted all the same where it cannot be written down, which is said", async () => {
    const { folder } = await home();
    await writeFile(costsFolder(folder), "");
    const said: string[] = [];
    const warn = (text: string) => void said.push(text);
    const ledger = createCostLedger({ home: folder, log: { ...quiet, warn }, now: () => NOON });
    await ledger.append(call(1));
    expect((await ledger.totals()).sessions.s?.dollars).toBe(1);
    expect(said).toEqual([expect.stringContaining("was not written down")]);
  });

  it("is counted once, however many processes write, end and begin", async () => {
    const steps = fc.array(
      fc.record({
        who: fc.integer({ min: 0, max: 2 }),
        what: fc.constantFrom("append", "append", "look", "end", "die"),
      }),
      { maxLength: 30 },
    );
    await fc.assert(
      fc.asyncProperty(steps, async (done) => {
        const folder = await temporaryHome();
        const start = () => createCostLedger({ home: folder, log: quiet, now: () => NOON });
        const ledgers = [start(), start(), start()];
        let written = 0;
        for (const { who, what } of done) {
          const ledger = ledgers[who]!;
          if (what === "append") await ledger.append(call(++written && 1));
          else if (what === "look")
            expect((await ledger.totals()).sessions.s?.dollars ?? 0).toBe(written);
          else {
            if (what === "end") await ledger.close();
            ledgers[who] = start();
          }
        }
        for (const ledger of [...ledgers, start()])
          expect((await ledger.totals()).sessions.s?.modelCalls ?? 0).toBe(written);
        expect((await readdir(folder)).length).toBeLessThanOrEqual(1);
      }),
    );
  });
});

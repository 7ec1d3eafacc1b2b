import { cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { textOf } from "@clew/plugin-sdk/transcript";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { describeReports, readAllReports } from "../doctor/check-reports.ts";
import { readLastRequest } from "../reports/report-log.ts";
import { clew } from "../testing/command.ts";
import { startTestGateway } from "../testing/gateway.ts";
import { temporaryHome } from "../testing/home.ts";
import { createInspector } from "./inspector.ts";
import type { SessionSource } from "./session-source.ts";
import type { CallRow } from "./shapes/calls.ts";

/** A session of some turns, one compaction among them, and what is told of it while it is whole. */
async function wholeSession() {
  const { home, say, gateway, stop } = await startTestGateway({
    agents: { defaults: { contextTokens: 32_000, compaction: { keepRecentTokens: 4000 } } },
  });
  for (let turn = 1; turn <= 40; turn++)
    await say(turn === 20 ? "/compact" : `No. ${turn}: ${"the tide comes in. ".repeat(60)}`);
  const { sessionId, branch } = (await gateway.store.read("agent:main:main"))!;
  await stop();
  const folder = join(home, "agents/main/reports");
  const source: SessionSource = { folder, sessionId, branch, allEntries: async () => branch };
  return { home, source, rows: await rowsOf(source) };
}

const inspectorOf = (source: SessionSource) => createInspector(async () => source);

async function rowsOf(source: SessionSource): Promise<readonly CallRow[]> {
  return (await inspectorOf(source).calls({ limit: 1000 }))!.calls;
}

type Whole = Awaited<ReturnType<typeof wholeSession>>;

const reportsOf = (folder: string) =>
  join(folder, readdirSync(folder).find((name) => name.endsWith(".jsonl"))!);

/** The same session with one line of its reports damaged. */
async function damaged(
  whole: Whole,
  damage: (lines: string[]) => string[],
): Promise<SessionSource> {
  const folder = join(await temporaryHome(), "reports");
  cpSync(whole.source.folder, folder, { recursive: true });
  const file = reportsOf(folder);
  writeFileSync(file, damage(readFileSync(file, "utf8").split("\n")).join("\n"));
  return { ...whole.source, folder };
}

const garbled = (line: number) => (lines: string[]) =>
  lines.map((text, at) => (at === line ? "x".repeat(text.length) : text));

const shorter = (line: number) => (lines: string[]) =>
  lines.map((text, at) => (at === line ? text.slice(0, -30) : text));

const longer = (line: number) => (lines: string[]) =>
  lines.map((text, at) => (at === line ? `${text.slice(0, 40)}xxxxx${text.slice(40)}` : text));

/** A letter of what is packed is another one: nothing but its contents tells. */
const flipped = (line: number, place: number) => (lines: string[]) =>
  lines.map((text, at) => {
    if (at !== line || text.length < 60) return text;
    const from = 40 + (place % (text.length - 50));
    return text.slice(0, from) + (text[from] === "A" ? "B" : "A") + text.slice(from + 1);
  });

describe("a damaged line of reports", () => {
  it("never makes another call tell what is false", async () => {
    const whole = await wholeSession();
    const kinds = fc.record({
      line: fc.nat(39),
      place: fc.nat(5000),
      isFlipped: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(kinds, async ({ line, place, isFlipped }) => {
        const source = await damaged(whole, isFlipped ? flipped(line, place) : garbled(line));
        for (const row of await rowsOf(source)) {
          const before = whole.rows.find(({ id }) => id === row.id)!;
          // What is flipped may be a letter of the hash itself: then nothing proves the call.
          if (row.lost === null)
            expect([row.requestHash, row.fates]).toEqual([before.requestHash, before.fates]);
          else expect(row.fates.all + row.tokens.total).toBe(0);
        }
      }),
      { numRuns: fc.readConfigureGlobal().numRuns! / 5 },
    );
  });

  it("costs its own turn and no other, also where it is longer or shorter than it was", async () => {
    const whole = await wholeSession();
    const told = ({ id, tokens, fates, requestHash, cost, lost }: CallRow) => {
      return { id, tokens, fates, requestHash, cost, lost };
    };
    for (const line of [0, 1, 2, 3, 20, 34, 35, 38])
      for (const damage of [garbled(line), shorter(line), longer(line)]) {
        const source = await damaged(whole, damage);
        const others = (rows: readonly CallRow[]) =>
          rows.filter(({ turn }) => turn !== line + 1).map(told);
        const rows = await rowsOf(source);
        expect(others(rows)).toEqual(others(whole.rows));
        const next = rows.find(({ turn }) => turn > line + 1);
        if (next === undefined) continue;
        const view = (await inspectorOf(source).call(next.id))!;
        expect(view.rebuilt).toEqual({ isSame: true, why: null });
      }
  });

  it("may be one of many that are gone: whatever is left is told, and nothing fails", async () => {
    const whole = await wholeSession();
    const kinds = fc.record({ from: fc.nat(38), count: fc.integer({ min: 1, max: 38 }) });
    await fc.assert(
      fc.asyncProperty(kinds, fc.integer({ min: 3, max: 40 }), async ({ from, count }, turns) => {
        const gone = (lines: string[]) => [...lines.slice(0, turns).toSpliced(from, count), ""];
        const source = await damaged(whole, gone);
        for (const row of await rowsOf(source)) {
          const before = whole.rows.find(({ id }) => id === row.id)!;
          if (row.lost === null)
            expect([row.requestHash, row.fates]).toEqual([before.requestHash, before.fates]);
        }
      }),
      { numRuns: fc.readConfigureGlobal().numRuns! / 5 },
    );
    // What the last lines are a difference to would stand across the end of the file now.
    for (let turns = 4; turns <= 9; turns++)
      for (const left of [1, 2]) {
        const gone = (lines: string[]) => [...lines.slice(0, turns).slice(-left), ""];
        expect((await rowsOf(await damaged(whole, gone))).length).toBeLessThanOrEqual(left);
      }
  });

  it("is told wherever somebody asks for what it takes", async () => {
    const whole = await wholeSession();
    // What was said then is not what was sent any more: nothing proves what the next call held.
    const branch = whole.source.branch.map((entry) =>
      entry.type === "message" && textOf(entry.message).startsWith("No. 31")
        ? { ...entry, message: { ...entry.message, content: "repaired" } }
        : entry,
    ) as SessionSource["branch"];
    const allEntries = async () => branch;
    const source = { ...(await damaged(whole, garbled(30))), branch, allEntries };
    const inspector = inspectorOf(source);
    const page = (await inspector.calls({ limit: 1000 }))!;
    expect(page.unreadableTurns).toEqual([31]);
    // The timeline shows the place, whether or not the next call can be told.
    const next = page.calls.find(({ turn }) => turn > 31)!;
    expect(next.marks).toContain("lost");
    expect(next.happened[0]).toContain("the report of a turn before it is damaged");
    expect(page.calls.filter(({ turn, marks }) => turn < 31 && marks.includes("lost"))).toEqual([]);
    const { id, lost } = page.calls.find((row) => row.lost !== null)!;
    const view = (await inspector.call(id))!;
    expect(view.why).toContain(lost);
    expect(view.rebuilt).toEqual({ isSame: false, why: lost });
    expect(await inspector.request(id)).toMatchObject({ isSame: false, rebuiltHash: null });
    expect(await inspector.entries({ call: id, limit: 10 })).toMatchObject({ matching: 0 });
    await expect(inspector.diff("1.1", id)).rejects.toThrow("cannot be compared");
    const [finding] = describeReports(await readAllReports(source.folder), "main");
    expect(finding).toMatchObject({ level: "warning", code: "session-reports-damaged" });
    expect(finding!.text).toContain("1 turn report cannot be read (31)");
  });

  it("leaves the last request unknown rather than wrong", async () => {
    const whole = await wholeSession();
    const { folder, sessionId } = await damaged(whole, garbled(38));
    const last = await readLastRequest(folder, sessionId);
    expect(last === null || last.messages.length > 0).toBe(true);
    const known = await readLastRequest(whole.source.folder, sessionId);
    if (last !== null) expect(last.messages).toEqual(known!.messages);
  });

  it("is told in a terminal", async () => {
    const whole = await wholeSession();
    const file = reportsOf(whole.source.folder);
    const text = readFileSync(file, "utf8");
    writeFileSync(file, garbled(30)(text.split("\n")).join("\n"));
    const { output } = await clew(whole.home, ["inspect", "main"]);
    writeFileSync(file, text);
    expect(output).toContain("The report of turn 31 cannot be read");
    expect(output).toMatch(/ calls in 38 turns, at least [\d,]+ tokens sent\./);
    expect(output).not.toContain("Every entry was shown in every call");
  });
});

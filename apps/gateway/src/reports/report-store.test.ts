import { randomBytes } from "node:crypto";
import {
  appendFile,
  readdir,
  rename,
  rm,
  stat,
  truncate,
  utimes,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import type { ModelCallReport, ReportItem, TurnReport } from "@clew/engine-core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { temporaryHome } from "../testing/home.ts";
import { foldMessages } from "./expand.ts";
import { type PlacedReport, REPORTS_START, readReports, readReportsAt } from "./read-reports.ts";
import { olderReportFile, reportFile } from "./report-files.ts";
import { openReportLog, readLastRequest, readPart } from "./report-log.ts";

const item = (id: string): ReportItem => ({
  source: { kind: "entry", entryId: id },
  role: "user",
  reason: "history",
  tokens: 1,
  hash: `hash-of-entry-${id}`,
});

/** A call as the core tells it: a full list now and then, else what is new. */
const call = (index: number, kept: number, ids: readonly string[]) =>
  ({
    ...{ index, system: [], tools: [] },
    messages: { kept, items: ids.map(item), tokens: 0 },
  }) as unknown as ModelCallReport;

const report = (turnId: string, modelCalls: ModelCallReport[]) =>
  ({
    v: 1,
    turnId,
    startedAt: "",
    engine: {},
    model: {},
    compactions: [],
    modelCalls,
  }) as unknown as TurnReport;

const ids = (items: readonly ReportItem[] | null | undefined) =>
  items?.map(({ source }) => (source.kind === "entry" ? source.entryId : ""));

async function allOf(folder: string): Promise<PlacedReport[]> {
  const found: PlacedReport[] = [];
  await readReports(folder, "s", REPORTS_START, (placed) => void found.push(placed));
  return found;
}

/** A session that grows by two messages a turn; the core lists all of them every 64 turns. */
const turn = (index: number, isNew = false) => {
  const all = Array.from({ length: 2 * index + 1 }, (_, at) => `e${at}`);
  const kept = isNew || index % 64 === 0 ? 0 : all.length - 2;
  return report(`t${index}`, [call(index, kept, all.slice(kept))]);
};

/** Seven messages of which the next turn still has five, and then none. */
const idsOf = (index: number) =>
  Array.from({ length: index % 2 === 0 ? 5 : 7 }, (_, at) => `v${index - (index % 2)}-${at}`);
const view = (index: number) => {
  const kept = index % 2 === 0 || index === 1 ? 0 : 5;
  return report(`t${index}`, [call(index, kept, idsOf(index).slice(kept))]);
};

describe("the reports of a session", () => {
  it("take about what is new in each turn, however long it is", async () => {
    const folder = await temporaryHome();
    const log = openReportLog(folder, "s");
    const sizes: number[] = [];
    for (let index = 0; index < 1000; index++) {
      await log.append(turn(index), {});
      if (index % 250 === 249) sizes.push((await stat(reportFile(folder, "s"))).size);
    }
    await log.close();
    const grown = sizes.map((size, index) => size - (sizes[index - 1] ?? 0));
    expect(grown.at(-1)!).toBeLessThan(2.5 * grown[0]!);
    const last = await readLastRequest(folder, "s");
    expect([last?.report.turnId, last?.messages.length]).toEqual(["t999", 1999]);
  });

  it("tell every call's whole list, whatever was sent, across restarts and torn lines", async () => {
    const change = fc.record({
      kept: fc.nat(8),
      added: fc.array(fc.constantFrom("a", "b", "c", "d"), { maxLength: 5 }),
      before: fc.constantFrom("nothing", "nothing", "restart", "torn"),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 20 }), async (changes) => {
        const folder = await temporaryHome();
        let log = openReportLog(folder, "s");
        let list: string[] = [];
        const lists: string[][] = [];
        const ordinals: number[] = [];
        for (const [index, { kept, added, before }] of changes.entries()) {
          if (before !== "nothing") {
            await log.close();
            if (before === "torn" && index > 0)
              await appendFile(reportFile(folder, "s"), '{"v":2,"z":"');
            log = openReportLog(folder, "s");
          }
          const same = before === "nothing" ? Math.min(kept, list.length) : 0;
          const next = [...list.slice(0, Math.min(kept, list.length)), ...added];
          const isFull = index === 0 || same === 0;
          ordinals.push(await log.nextTurn());
          await log.append(
            report(`t${index}`, [call(index, isFull ? 0 : same, next.slice(isFull ? 0 : same))]),
            {},
          );
          list = next;
          lists.push(next);
        }
        await log.close();
        const reports = await allOf(folder);
        const calls = reports.flatMap(({ report: { modelCalls } }) => modelCalls);
        for (const [index, expected] of lists.entries())
          expect(ids(foldMessages(calls.slice(0, index + 1)))).toEqual(expected);
        const turns = reports.map(({ turn: ordinal }) => ordinal);
        expect(turns).toEqual(turns.toSorted((a, b) => a - b));
        expect(ordinals).toEqual(turns);
        expect(await readReportsAt(folder, "s", reports)).toEqual(reports);
        for (let from = 0; from < reports.length; from += 3)
          expect(await readReportsAt(folder, "s", reports.slice(from))).toEqual(
            reports.slice(from),
          );
      }),
      { numRuns: fc.readConfigureGlobal().numRuns! / 5 },
    );
  });

  it("are written to a new file where theirs was removed or emptied, with their parts", async () => {
    const folder = await temporaryHome();
    const log = openReportLog(folder, "s");
    const told = (turn: number) =>
      log.append(report(`t${turn}`, [call(turn, 0, ["0123456789abcdef"])]), {
        "0123456789abcdef": "the same words",
      });
    await told(1);
    await told(2);
    await rm(folder, { recursive: true });
    await told(3);
    await told(4);
    expect((await allOf(folder)).map(({ turn }) => turn)).toEqual([3, 4]);
    expect(await readPart(folder, "0123456789abcdef")).toBe("the same words");
    await truncate(reportFile(folder, "s"));
    await told(5);
    await told(6);
    await log.close();
    expect((await allOf(folder)).map(({ turn }) => turn)).toEqual([5, 6]);
  });

  it("are let go for the parts that were stored with them, too, across restarts", async () => {
    const folder = await temporaryHome();
    const maxBytes = 100_000;
    let log = openReportLog(folder, "s", { maxBytes });
    for (let index = 0; index < 12; index++) {
      const hash = `0123456789abcde${index.toString(16)}`;
      await log.append(report(`t${index}`, [call(index, 0, [hash])]), {
        // Packing leaves half of it.
        [hash]: randomBytes(30_000).toString("hex"),
      });
      if (index % 2 === 1) {
        await log.close();
        log = openReportLog(folder, "s", { maxBytes });
      }
    }
    await log.close();
    const kept = (await allOf(folder)).length;
    expect(kept).toBeGreaterThan(1);
    expect(kept).toBeLessThanOrEqual(4);
  });

  it("go on in a next file when one is full, and the oldest are let go", async () => {
    const folder = await temporaryHome();
    const maxBytes = 16_000;
    const log = openReportLog(folder, "s", { maxBytes });
    const first = { "0123456789abcdef": "of the first turn" };
    await log.append(report("t0", [call(0, 0, ["0"])]), first);
    const old = new Date(Date.now() - 86_400_000);
    await utimes(join(folder, "parts/0123456789abcdef"), old, old);
    const seen: PlacedReport[] = [];
    let end = REPORTS_START;
    for (let index = 1; index < 400; index++) {
      await log.append(view(index), { fedcba9876543210: "of all others" });
      if (index % 20 === 0)
        end = await readReports(folder, "s", end, (placed) => void seen.push(placed));
    }
    await log.close();
    await readReports(folder, "s", end, (placed) => void seen.push(placed));
    // Whoever reads on misses none, and each has the ordinal that it always had.
    expect(seen.map(({ turn: ordinal, report: { turnId } }) => `${ordinal} ${turnId}`)).toEqual(
      Array.from({ length: 400 }, (_, index) => `${index + 1} t${index}`),
    );
    const kept = await allOf(folder);
    expect(kept.length).toBeLessThan(400);
    expect(kept).toEqual(seen.slice(-kept.length));
    expect(await readReportsAt(folder, "s", seen)).toEqual(kept);
    const sizes = await Promise.all(
      [olderReportFile, reportFile].map(async (of) => (await stat(of(folder, "s"))).size),
    );
    expect(sizes[0]! + sizes[1]!).toBeLessThan(maxBytes * 1.2);
    // Each file is read without those before it.
    expect(kept[0]!.report.modelCalls[0]!.messages.kept).toBe(0);
    expect(ids((await readLastRequest(folder, "s"))?.messages)).toEqual(idsOf(399));
    expect(await readPart(folder, "0123456789abcdef")).toBeNull();
    expect(await readPart(folder, "fedcba9876543210")).toBe("of all others");
  });

  it("keep their ordinals when the gateway is killed between two files", async () => {
    const folder = await temporaryHome();
    const log = openReportLog(folder, "s");
    for (let index = 0; index < 5; index++) await log.append(turn(index), {});
    await log.close();
    const before = await allOf(folder);
    await rename(reportFile(folder, "s"), olderReportFile(folder, "s"));
    expect(await allOf(folder)).toEqual(before);
    const next = openReportLog(folder, "s");
    await next.append(turn(5, true), {});
    await next.close();
    expect((await allOf(folder)).map(({ turn: ordinal }) => ordinal)).toEqual([1, 2, 3, 4, 5, 6]);
    expect((await readLastRequest(folder, "s"))?.messages).toHaveLength(11);
  });

  it("cut at any byte keep all lines that are whole, and later ones can be read", async () => {
    const folder = await temporaryHome();
    const log = openReportLog(folder, "s");
    for (let index = 0; index < 4; index++) await log.append(turn(index), {});
    await log.close();
    const whole = await allOf(folder);
    const last = whole.at(-1)!;
    for (let cut = last.start + 1; cut < last.start + last.length; cut += 7) {
      await truncate(reportFile(folder, "s"), cut);
      const after = openReportLog(folder, "s");
      await after.append(turn(4, true), {});
      await after.close();
      const found = await allOf(folder);
      expect(found.map(({ report: { turnId } }) => turnId)).toEqual(["t0", "t1", "t2", "t4"]);
      expect((await readLastRequest(folder, "s"))?.messages).toHaveLength(9);
      await truncate(reportFile(folder, "s"), last.start);
      await appendFile(reportFile(folder, "s"), "x".repeat(last.length));
    }
  });

  it("of earlier releases are read with those of this one", async () => {
    const folder = await temporaryHome();
    await writeFile(
      reportFile(folder, "s"),
      [turn(0), turn(1)].map((each) => `${JSON.stringify(each)}\n`).join(""),
    );
    const log = openReportLog(folder, "s");
    await log.append(turn(2, true), {});
    await log.close();
    const found = await allOf(folder);
    expect(found.map(({ turn: ordinal }) => ordinal)).toEqual([1, 2, 3]);
    expect(found[2]!.report.modelCalls[0]!.messages.items.length).toBeLessThanOrEqual(5);
    expect((await readLastRequest(folder, "s"))?.messages).toHaveLength(5);
    expect((await readdir(folder)).toSorted()).toEqual(["parts", "s.jsonl"]);
    expect(join(folder, "s.jsonl")).toBe(reportFile(folder, "s"));
  });
});

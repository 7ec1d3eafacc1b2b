import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { appendFile, cp, readFile, writeFile } from "node:fs/promises";
import { gunzipSync, gzipSync } from "node:zlib";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { DEMO_AGENT, DEMO_KEY } from "../demo/demo-place.ts";
import { cleanFiles } from "../forget/clean-files.ts";
import { reportFile } from "../reports/report-log.ts";
import { agentPaths } from "../sessions/paths.ts";
import { createSessionStore } from "../sessions/store.ts";
import { clew } from "../testing/command.ts";
import { homeWithOwnPort, temporaryHome } from "../testing/home.ts";
import { NO_PRICES, type PricesOf } from "./cost.ts";
import { createInspector, type Inspector } from "./inspector.ts";
import { keptCallsFile } from "./kept-calls.ts";
import type { SessionSource } from "./session-source.ts";
import type { CallPage } from "./shapes/calls.ts";

const ALL = { limit: 10_000 };
/** Stands in no report: whoever tells it took it from what was kept. */
const MARK = "taken from what was kept";

let made = "";
beforeAll(async () => {
  made = await homeWithOwnPort({ keep: true });
  await clew(made, ["demo", "make"]);
});

/** The demo session in a home of its own. */
async function demoHome() {
  const home = await temporaryHome();
  await cp(made, home, { recursive: true });
  const { sessionId, branch, file } = (await createSessionStore({ home }).read(DEMO_KEY))!;
  const folder = agentPaths(home, DEMO_AGENT).reports;
  const source: SessionSource = { folder, sessionId, branch, allEntries: async () => branch };
  const reports = reportFile(folder, sessionId);
  const kept = keptCallsFile(file);
  const keeping = (pricesOf?: PricesOf) =>
    createInspector(async () => ({ ...source, file }), pricesOf);
  return { home, file, reports, kept, source, keeping };
}

type Demo = Awaited<ReturnType<typeof demoHome>>;

/** Looks at all calls once, and marks what is kept of the first. */
async function lookOnce({ keeping, kept }: Demo) {
  await keeping().calls(ALL);
  await vi.waitFor(() => expect(existsSync(kept)).toBe(true), 10_000);
  const lines = gunzipSync(readFileSync(kept)).toString().split("\n");
  const first = JSON.parse(lines[1]!) as { rows: { happened: string[] }[] };
  first.rows[0]!.happened.push(MARK);
  lines[1] = JSON.stringify(first);
  writeFileSync(kept, gzipSync(lines.join("\n")));
}

async function tellsOfKept(inspector: Inspector) {
  const { calls } = (await inspector.calls(ALL))!;
  return calls[0]!.happened.includes(MARK);
}

function withMark(page: CallPage | null) {
  const [first, ...others] = page!.calls;
  return { ...page, calls: [{ ...first, happened: [...first!.happened, MARK] }, ...others] };
}

/** All that is told of calls, but for the mark. */
async function told(inspector: Inspector) {
  const page = (await inspector.calls(ALL))!;
  const calls = page.calls.map((row) => ({
    ...row,
    happened: row.happened.filter((what) => what !== MARK),
  }));
  const some = calls.filter((_row, at) => at % 23 === 0 || at === calls.length - 1);
  const opened = [];
  for (const { id } of some) {
    const { row: _row, ...view } = (await inspector.call(id))!;
    opened.push({ view, entries: await inspector.entries({ call: id, limit: 10_000 }) });
  }
  const summaries = opened.flatMap(({ view }) => view.summaries.map(({ summaryId }) => summaryId));
  const newest = [];
  for (const id of new Set(summaries)) newest.push(await inspector.summary(id));
  return { page: { ...page, calls }, opened, newest };
}

describe("calls that were folded before", () => {
  it("are told as they are by all reports", async () => {
    const demo = await demoHome();
    await lookOnce(demo);
    const again = demo.keeping();
    expect(await tellsOfKept(again)).toBe(true);
    expect(await told(again)).toEqual(await told(createInspector(async () => demo.source)));
  });

  it("are gone on from with the reports that came since", async () => {
    const demo = await demoHome();
    const all = await readFile(demo.reports, "utf8");
    const lines = all.split("\n").slice(0, -12);
    await writeFile(demo.reports, `${lines.join("\n")}\n`);
    await lookOnce(demo);
    await appendFile(demo.reports, all.slice(lines.join("\n").length + 1));
    const again = demo.keeping();
    expect(await tellsOfKept(again)).toBe(true);
    expect(await told(again)).toEqual(await told(createInspector(async () => demo.source)));
  });

  const without = (line: number) => (lines: string[]) => lines.toSpliced(line, 1);
  const garbled = (line: number) => (lines: string[]) =>
    lines.with(line, "x".repeat(lines[line]!.length));
  it.each<[string, (lines: string[]) => string[]]>([
    ["is missing", without(30)],
    ["is damaged", garbled(30)],
    ["of the first turn is missing", without(0)],
    ["is missing, and another one damaged", (lines) => garbled(35)(without(9)(lines))],
    [
      "stands there twice, and the one before is missing",
      (lines) => without(29)(lines.toSpliced(30, 0, lines[30]!)),
    ],
  ])("are told as they are where a report %s", async (_which, damage) => {
    const demo = await demoHome();
    const all = (await readFile(demo.reports, "utf8")).split("\n");
    await writeFile(demo.reports, damage(all.slice(0, -20)).concat("").join("\n"));
    await lookOnce(demo);
    await writeFile(demo.reports, damage(all).join("\n"));
    const again = demo.keeping();
    expect(await tellsOfKept(again)).toBe(true);
    const anew = createInspector(async () => demo.source);
    expect(await told(again)).toEqual(await told(anew));
    // Beside the gap, too.
    const beside = (turn: number) => turn < 3 || (turn > 29 && turn < 33);
    for (const { id } of (await anew.calls(ALL))!.calls.filter(({ turn }) => beside(turn)))
      expect(await again.request(id)).toEqual(await anew.request(id));
  });

  it("are folded from wherever the next gap is, at each of the calls", async () => {
    const demo = await demoHome();
    const lines = (await readFile(demo.reports, "utf8")).split("\n");
    for (const gap of [33, 34, 35, 36, 37]) {
      await writeFile(demo.reports, without(gap)(lines).join("\n"));
      rmSync(demo.kept, { force: true });
      await lookOnce(demo);
      const again = demo.keeping();
      expect(await tellsOfKept(again)).toBe(true);
      const anew = createInspector(async () => demo.source);
      expect(await again.calls(ALL)).toEqual(withMark(await anew.calls(ALL)));
    }
  });

  const prices = () => ({
    ...{ input: 1, output: 1, cacheRead: 1, cacheWrite: 1, isRecorded: false },
  });
  const changed = (file: string, at: number) => {
    const bytes = readFileSync(file);
    bytes[at] = bytes[at]! ^ 1;
    writeFileSync(file, bytes);
  };
  it.each<[string, (demo: Demo) => void, PricesOf]>([
    ["a report is another one", ({ reports }) => changed(reports, 2000), NO_PRICES],
    ["the transcript says something else", ({ file }) => changed(file, 3000), NO_PRICES],
    ["prices are others", () => {}, prices],
    ["its file is damaged", ({ kept }) => changed(kept, 500), NO_PRICES],
    [
      "its file is cut off",
      ({ kept }) => writeFileSync(kept, readFileSync(kept).subarray(0, 900)),
      NO_PRICES,
    ],
    ["its file is nothing of ours", ({ kept }) => writeFileSync(kept, gzipSync("{}")), NO_PRICES],
  ])("are folded again where %s", async (_why, change, pricesOf) => {
    const demo = await demoHome();
    await lookOnce(demo);
    change(demo);
    const again = demo.keeping(pricesOf);
    expect(await tellsOfKept(again)).toBe(false);
    const anew = createInspector(async () => demo.source, pricesOf);
    expect(await again.calls(ALL)).toEqual(await anew.calls(ALL));
  });

  it("are no damage to the doctor, and go with their session", async () => {
    const demo = await demoHome();
    await lookOnce(demo);
    const { output } = await clew(demo.home, ["doctor", "--json"]);
    expect(output).not.toContain(".jsonl.calls");
    await clew(demo.home, ["sessions", "delete", DEMO_KEY, "--yes"]);
    expect(existsSync(demo.file)).toBe(false);
    expect(existsSync(demo.kept)).toBe(false);
  });

  it("are forgotten with whatever is forgotten", async () => {
    const demo = await demoHome();
    await lookOnce(demo);
    await writeFile(`${demo.kept}.1234`, "one that was being written");
    await cleanFiles(demo.home, () => false);
    expect([existsSync(demo.kept), existsSync(`${demo.kept}.1234`)]).toEqual([false, false]);
  });
});

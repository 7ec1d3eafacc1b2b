import { appendFile, writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { temporaryHome } from "../testing/home.ts";
import { type PlacedReport, REPORTS_START, readReports, readReportsAt } from "./read-reports.ts";
import { reportFile } from "./report-log.ts";

const line = (turnId: string) => `${JSON.stringify({ v: 1, turnId })}\n`;

async function reportsOf(text: string) {
  const folder = await temporaryHome();
  await writeFile(reportFile(folder, "s"), text);
  const read = async (from = REPORTS_START) => {
    const found: PlacedReport[] = [];
    const end = await readReports(folder, "s", from, (placed) => void found.push(placed));
    return { end, found, ids: found.map(({ turn, report }) => `${turn} ${report.turnId}`) };
  };
  return { folder, read, add: (more: string) => appendFile(reportFile(folder, "s"), more) };
}

describe("reports of a session", () => {
  it("have ordinals, and reading goes on where it ended", async () => {
    const { read, add } = await reportsOf(line("a") + line("b"));
    const first = await read();
    expect(first.ids).toEqual(["1 a", "2 b"]);
    expect((await read(first.end)).ids).toEqual([]);
    await add(line("c"));
    expect((await read(first.end)).ids).toEqual(["3 c"]);
    expect((await read()).ids).toEqual(["1 a", "2 b", "3 c"]);
  });

  it("wait until their line is whole", async () => {
    const { read, add } = await reportsOf(`${line("a")}{"v":1,`);
    const { ids, end } = await read();
    expect(ids).toEqual(["1 a"]);
    await add('"turnId":"b"}\n');
    expect((await read(end)).ids).toEqual(["2 b"]);
  });

  it("keep their ordinals behind a line that nobody can read", async () => {
    const { read } = await reportsOf(`${line("a")}{"v":1,\n\n{"v":2}\n${line("b")}`);
    expect((await read()).ids).toEqual(["1 a", "4 b"]);
  });

  it("can be read again from their places", async () => {
    const { folder, read } = await reportsOf(line("ä") + line("b") + line("c"));
    const { found } = await read();
    const again = await readReportsAt(folder, "s", found.slice(1));
    expect(again).toEqual(found.slice(1));
    expect(await readReportsAt(folder, "s", [])).toEqual([]);
  });

  it("are none where there is no file", async () => {
    const found = await readReports(await temporaryHome(), "s", REPORTS_START, () => {});
    expect(found).toEqual(REPORTS_START);
  });
});

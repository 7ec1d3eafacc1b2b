import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { packPart } from "../reports/packed-part.ts";
import { encodeLine, plainLines } from "../reports/report-lines.ts";
import { temporaryHome } from "../testing/home.ts";
import { FORGOTTEN } from "../text/forgotten.ts";
import { cleanFiles, filesHolding } from "./clean-files.ts";
import { forgetReports } from "./session-traces.ts";

const HASH = "0123456789abcdef0123456789abcdef";
const report = (note: string) =>
  JSON.stringify({ v: 1, toolCalls: [{ name: "look", note }], hash: HASH });

/** Two reports, the second as a difference to the first. */
function packed(first: string, second: string): string {
  const base = encodeLine(first);
  const place = { start: 0, length: base.length, text: first };
  return `${base}\n${encodeLine(second, place)}\n`;
}

async function homeWithReports() {
  const home = await temporaryHome();
  const folder = join(home, "agents/main/reports");
  await mkdir(join(folder, "parts"), { recursive: true });
  await writeFile(join(folder, "a.jsonl"), packed(report("fine"), report("KEY-4711 is wrong")));
  await writeFile(join(folder, "b.older.jsonl"), packed(report("fine"), report("also fine")));
  await writeFile(join(folder, "parts", HASH), "a part");
  const left = async () => (await readdir(folder)).toSorted();
  return { home, folder, left };
}

describe("reports that are stored packed", () => {
  it("are looked through when something is forgotten, differences to others too", async () => {
    const { home, left } = await homeWithReports();
    const holds = (text: string) => text.includes("KEY-4711");
    const sought = { holds, except: new Set<string>(), changes: () => undefined, text: null };
    // It is known to go, so nothing is left that a person has to see to.
    expect((await filesHolding(home, sought)).left).toEqual([]);
    await cleanFiles(home, holds);
    expect(await left()).toEqual(["a.jsonl", "b.older.jsonl", "parts"]);
    const text = plainLines(await readFile(join(home, "agents/main/reports/a.jsonl"), "utf8"));
    const [first, second] = text.split("\n");
    expect(first).toBe(report("fine"));
    expect(second).toBe(report(FORGOTTEN));
  });

  it("lose the parts that say it, packed or as earlier releases stored them", async () => {
    const { home, folder } = await homeWithReports();
    const parts = join(folder, "parts");
    const said = "The key is KEY-4711. ".repeat(20);
    await writeFile(join(parts, "packed-part-0001"), await packPart(said));
    await writeFile(join(parts, "packed-part-0002"), await packPart(said.replaceAll("KEY", "no")));
    await writeFile(join(parts, "plain-part-00001"), said);
    await cleanFiles(home, (text) => text.includes("KEY-4711"));
    expect((await readdir(parts)).toSorted()).toEqual([HASH, "packed-part-0002"].toSorted());
  });

  it("keep the parts that they name, and go with their session", async () => {
    const { home, folder, left } = await homeWithReports();
    const whole = (sessionId: string) => ({ agentId: "main", sessionId, entries: null });
    await forgetReports(home, "main", [whole("a")]);
    expect(await readdir(join(folder, "parts"))).toEqual([HASH]);
    await forgetReports(home, "main", [whole("b")]);
    expect(await left()).toEqual(["parts"]);
    expect(await readdir(join(folder, "parts"))).toEqual([]);
  });
});

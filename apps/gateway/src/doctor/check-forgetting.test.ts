import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { writeJournal } from "../forget/journal.ts";
import { journalFile } from "../forget/journal-file.ts";
import { clew } from "../testing/command.ts";
import { temporaryHome } from "../testing/home.ts";

/** What it finds of forgetting. */
async function found(home: string, plugins: object = {}) {
  writeFileSync(join(home, "clew.json"), JSON.stringify({ plugins }));
  const { findings } = JSON.parse((await clew(home, ["doctor", "--json"])).output) as {
    findings: { level: string; code: string; text: string }[];
  };
  return findings.filter(({ code }) => /forgetting|retention/.test(code));
}

const lossless = (entry: object, contextEngine = "lossless") => ({
  slots: { contextEngine },
  entries: { lossless: entry },
});

describe("clew doctor", () => {
  it("names an interrupted forget, and what ends it", async () => {
    const home = await temporaryHome();
    expect(await found(home)).toEqual([]);
    await writeJournal(home, { v: 1, databases: [], transcripts: [], backups: [] });
    expect(await found(home)).toMatchObject([
      {
        ...{ level: "warning", code: "forgetting-interrupted" },
        text: expect.stringContaining('run "clew lossless forget --resume"'),
      },
    ]);
    expect(await clew(home, ["lossless", "doctor"])).toMatchObject({
      ...{ code: 1, errors: expect.stringContaining("Something was being forgotten when") },
    });
    expect(await clew(home, ["lossless", "forget", "--resume"])).toMatchObject({ code: 0 });
    expect(await found(home)).toEqual([]);
    expect(await clew(home, ["lossless", "doctor"])).toMatchObject({ code: 0 });

    writeFileSync(journalFile(home), "half a jour");
    expect(await found(home)).toMatchObject([{ level: "failure", code: "forgetting-unreadable" }]);
  });

  it("names retention that is set and cannot run", async () => {
    const home = await temporaryHome();
    const config = { keepDays: 30 };
    expect(await found(home, lossless({ config }))).toEqual([]);
    expect(await found(home, lossless({ config: {} }, "legacy"))).toEqual([]);
    expect(await found(home, lossless({ config }, "legacy"))).toMatchObject([
      {
        ...{ level: "warning", code: "retention-idle" },
        text: expect.stringContaining('as "legacy" answers instead'),
      },
    ]);
    expect(
      await found(home, lossless({ enabled: false, config: { ...config, keepMegabytes: 5 } })),
    ).toMatchObject([{ text: expect.stringContaining("keepDays and keepMegabytes of the") }]);
  });
});

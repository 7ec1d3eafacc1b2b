import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createJobFiles } from "../cron/job-files.ts";
import { clew } from "../testing/command.ts";
import { temporaryHome } from "../testing/home.ts";

async function found(home: string) {
  const { findings } = JSON.parse((await clew(home, ["doctor", "--json"])).output) as {
    findings: { level: string; code: string; text: string }[];
  };
  return findings.filter(({ code }) => code.startsWith("job"));
}

describe("clew doctor", () => {
  it("names jobs that cannot be read, never come due, or failed last time", async () => {
    const home = await temporaryHome();
    expect(await found(home)).toEqual([]);
    await clew(home, ["cron", "add", "every 30m", "look", "--id", "fine"]);
    expect(await found(home)).toMatchObject([{ level: "note", code: "jobs-idle" }]);

    const files = createJobFiles(home);
    const [fine] = await files.jobs();
    await files.write({ ...fine!, id: "mars", schedule: "0 8 * * *", timeZone: "Mars/Base" });
    await files.write({ ...fine!, id: "feb", schedule: "0 8 30 2 *", timeZone: "UTC" });
    const moments = { due: 1, startedAt: 1, endedAt: 2, missed: 0 };
    await files.appendRun("fine", { ...moments, outcome: "failed", reason: "no model" });
    mkdirSync(join(home, "cron"), { recursive: true });
    writeFileSync(join(home, "cron", "torn.job.json"), "{");
    expect((await found(home)).map(({ code, text }) => `${code}: ${text}`)).toEqual([
      expect.stringMatching(/^job-unreadable: .*torn\.job\.json holds no job/),
      expect.stringMatching(/^job-never-due: job feb never runs: no date fits "0 8 30 2 \*"/),
      expect.stringMatching(/^job-failed: the last run of job fine was failed: no model/),
      expect.stringMatching(/^job-never-due: job mars never runs: "Mars\/Base" is no time zone/),
      expect.stringMatching(/^jobs-idle: .* 3 jobs run once "clew start" does$/),
    ]);
  });
});

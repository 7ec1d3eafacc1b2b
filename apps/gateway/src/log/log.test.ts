import { mkdir, readdir, readFile, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryHome } from "../testing/home.ts";
import { createLog } from "./log.ts";

describe("the log", () => {
  it("writes one JSON object per line and hides keys wherever they are", async () => {
    const file = join(await temporaryHome(), "logs/gateway.log");
    const problems: string[] = [];
    const log = createLog({
      file,
      onProblem: (level, message) => problems.push(`${level}: ${message}`),
    });
    log.info("started", { port: 1, endpoint: { apiKey: "abc", headers: { authorization: "x" } } });
    log.warn("server said: bad key sk-proj-abcdefghijklmnop and Bearer abcdefgh12345678");
    log.close();
    const text = await readFile(file, "utf8");
    const lines = text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines).toMatchObject([
      {
        level: "info",
        msg: "started",
        port: 1,
        endpoint: { apiKey: "(hidden)", headers: "(hidden)" },
      },
      { level: "warn", msg: "server said: bad key (hidden) and (hidden)" },
    ]);
    expect(problems).toEqual(["warn: server said: bad key (hidden) and (hidden)"]);
  });

  it("rotates by size and keeps a bounded number of files", async () => {
    const folder = join(await temporaryHome(), "logs");
    const log = createLog({
      file: join(folder, "gateway.log"),
      rotation: { maxBytes: 2000, keepDays: 30, keep: 2 },
    });
    for (let index = 0; index < 100; index++) log.info(`line ${index}`);
    log.close();
    expect((await readdir(folder)).sort()).toEqual([
      "gateway.log",
      "gateway.log.1",
      "gateway.log.2",
    ]);
    for (const name of await readdir(folder))
      expect((await readFile(join(folder, name))).length).toBeLessThanOrEqual(2000);
    expect(await readFile(join(folder, "gateway.log"), "utf8")).toContain("line 99");
  });

  it("keeps older files no longer than it is told, and no more than it is told", async () => {
    const folder = join(await temporaryHome(), "logs");
    const file = join(folder, "gateway.log");
    await mkdir(folder);
    for (const age of [1, 2, 3, 7]) await writeFile(`${file}.${age}`, "old\n");
    const longAgo = new Date(Date.now() - 31 * 86_400_000);
    await utimes(`${file}.2`, longAgo, longAgo);
    const log = createLog({ file, rotation: { maxBytes: 2000, keepDays: 30, keep: 3 } });
    log.info("new");
    log.close();
    expect((await readdir(folder)).sort()).toEqual([
      "gateway.log",
      "gateway.log.1",
      "gateway.log.3",
    ]);
  });

  it("writes what is at its level or above, and hides what it knows to be secret anywhere", async () => {
    const file = join(await temporaryHome(), "logs/gateway.log");
    const secrets = ["correct horse battery"];
    const log = createLog({ file, level: "warn", secrets });
    log.info("nobody reads this");
    log.warn("the server said: correct horse battery?", {
      told: { deep: "correct horse battery" },
    });
    log.close();
    const text = await readFile(file, "utf8");
    expect(text).not.toMatch(/nobody|horse/);
    expect(JSON.parse(text)).toMatchObject({ msg: "the server said: (hidden)?" });
  });

  it("does not stop the gateway when it cannot be written", () => {
    const log = createLog({ file: "/dev/null/logs/gateway.log" });
    expect(() => log.info("lost")).not.toThrow();
  });
});

import { appendFileSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { AgentMessage } from "../../contract/message.ts";
import { withDiary, writtenOver } from "../broken/torn.ts";
import { runCase } from "../conformance.ts";
import { CONFORMANCE_CASES } from "./index.ts";

const killedWithin = CONFORMANCE_CASES.find(({ id }) => id === "crash/killed-within")!;

/** Lines that end, and one that was told again. */
const lines = (file: string) =>
  readFileSync(file, "utf8")
    .split("\n")
    .flatMap((line): AgentMessage[] => {
      try {
        return [JSON.parse(line)];
      } catch {
        return [];
      }
    });

describe("an engine that is killed while it writes a file", () => {
  it("fails where the file is written over and what is half there counts as empty", async () => {
    const { outcome, reason } = await runCase(killedWithin, writtenOver);
    expect(outcome).toBe("failed");
    expect(reason).toMatch(/^Killed within being told of the next one .* it lacks "/);
  });

  it("passes where a new file takes the place of the old one, or lines are added", async () => {
    const renamed = withDiary({
      read: (file) => JSON.parse(readFileSync(file, "utf8")),
      write(file, all) {
        writeFileSync(`${file}.new`, JSON.stringify(all));
        renameSync(`${file}.new`, file);
      },
    });
    const appended = withDiary({
      read: lines,
      write: (file, _all, fresh) => appendFileSync(file, `\n${JSON.stringify(fresh)}\n`),
    });
    for (const right of [renamed, appended])
      expect(await runCase(killedWithin, right)).toMatchObject({ outcome: "passed" });
  });
});

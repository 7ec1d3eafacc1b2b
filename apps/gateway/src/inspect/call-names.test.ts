import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { clew } from "../testing/command.ts";
import { startTestGateway } from "../testing/gateway.ts";
import { CallPageSchema } from "./shapes.ts";

const reportsIn = (home: string) => {
  const folder = join(home, "agents/main/reports");
  return join(folder, readdirSync(folder).find((name) => name.endsWith(".jsonl"))!);
};

/** Sixty short turns, and the lines of their reports. */
async function manyTurns(count: number) {
  const { home, say, stop } = await startTestGateway();
  for (let turn = 1; turn <= count; turn++) await say(`No. ${turn}: the tide comes in.`);
  await stop();
  const file = reportsIn(home);
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  const page = async () =>
    CallPageSchema.parse(JSON.parse((await clew(home, ["inspect", "main", "--json"])).output));
  return { home, file, lines, page };
}

describe("the name of a call", () => {
  it("stays where a line of the reports before it is lost, doubled or none of ours", async () => {
    const { file, lines, page } = await manyTurns(12);
    const before = (await page()).calls.map(({ id, requestHash }) => [id, requestHash]);
    const named = async (changed: string[]) => {
      writeFileSync(file, `${changed.join("\n")}\n`);
      const { calls, unreadableTurns, missingTurns } = await page();
      const missing = missingTurns.map(({ turn }) => turn);
      return {
        names: calls.map(({ id, requestHash }) => [id, requestHash]),
        unreadableTurns,
        missing,
      };
    };
    expect(await named(lines.toSpliced(5, 1))).toEqual({
      names: before.toSpliced(5, 1),
      ...{ unreadableTurns: [], missing: [6] },
    });
    expect(await named(lines.toSpliced(5, 0, lines[4]!))).toEqual({
      names: before,
      ...{ unreadableTurns: [], missing: [] },
    });
    expect(await named(lines.toSpliced(5, 0, "one", "two", "three"))).toEqual({
      names: before,
      ...{ unreadableTurns: [], missing: [] },
    });
    expect(await named(lines.toSpliced(5, 1, "x"))).toEqual({
      names: before.toSpliced(5, 1),
      ...{ unreadableTurns: [6], missing: [] },
    });
  });
});

import { writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { reportedTurns } from "../testing/reported-turns.ts";

describe("the name of a call", () => {
  it("stays where a line of the reports before it is lost, doubled or none of ours", async () => {
    const { file, lines, page } = await reportedTurns(12);
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

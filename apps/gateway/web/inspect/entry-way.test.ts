import { expect, it } from "vitest";
import type { EntryTrace, Fate } from "../../src/inspect/shapes/entries.ts";
import { planWay } from "./entry-way.tsx";

it("an entry's way says when it left, by what and in which call, and how it came back", () => {
  const range = (
    [from, to, calls]: [string, string, number],
    fate: Fate,
    why: string,
    happened: string[] = [],
  ): EntryTrace["ranges"][number] => ({
    ...{ from, to, calls, fate, why, happened, marks: [], at: "2026-11-27T18:00:05.000Z" },
  });
  const shown: Fate = { kind: "shown" };
  const ranges = [
    range(["1.1", "7.1", 7], shown, "shown as it is stored"),
    range(["8.1", "8.1", 1], { kind: "summary", summaryId: "c1" }, "in summary c1", [
      "compaction: 12 entries → 300 tokens",
    ]),
    range(["9.1", "9.3", 3], shown, "shown as it is stored", ["a compaction was undone"]),
    range(["10.1", "10.1", 1], shown, "shortened from 900 to 100 tokens by cap"),
  ];
  const told = planWay({ ranges }).map(
    ({ word, from, span, why, before }) => `${word} ${from}${span}: ${why} ${before ?? ""}`,
  );
  expect(told).toEqual([
    "Shown from call 1.1 to 7.1 (7 calls): shown as it is stored ",
    "Left in call 8.1: in summary c1 (2026-11-27 18:00:05 UTC; compaction: 12 entries → 300 tokens)",
    "Back in call 9.1 to 9.3 (3 calls): shown as it is stored (2026-11-27 18:00:05 UTC; a compaction was undone)",
    "Otherwise from call 10.1: shortened from 900 to 100 tokens by cap (2026-11-27 18:00:05 UTC)",
  ]);
});

import { describe, expect, it } from "vitest";
import { startTestGateway } from "../testing/gateway.ts";
import type { EntryRow } from "./shapes/entries.ts";

const WORDS = "the tide comes in and goes out again. ".repeat(80);

/** A compaction, two messages, and an undo: what was said in between is stored again. */
async function undoneSession() {
  const { say, gateway } = await startTestGateway({
    agents: { defaults: { contextTokens: 64_000, compaction: { keepRecentTokens: 2000 } } },
  });
  for (let turn = 1; turn <= 8; turn++) await say(`No. ${turn}: ${WORDS}`);
  await say("/compact");
  await say("between");
  await say("between again");
  const inspector = await gateway.inspect("main");
  const before = (await inspector.entries({ limit: 1000 }))!.entries;
  await say("/compact undo");
  await say("afterwards");
  const after = (await inspector.entries({ limit: 1000 }))!.entries;
  const { calls } = (await inspector.calls({ limit: 1000 }))!;
  return { inspector, before, after, calls };
}

const numbered = (rows: readonly EntryRow[], text: string) =>
  rows.find(({ preview, role }) => role === "user" && preview === text)!;

describe("what was said between a compaction and its undoing", () => {
  it("is no other message afterwards", async () => {
    const { inspector, before, after, calls } = await undoneSession();
    const [left, kept] = [numbered(before, "between"), numbered(after, "between")];
    expect(kept.number).toBe(left.number);
    expect(kept.entryId).not.toBe(left.entryId);
    const [from, to] = calls.slice(-2).map(({ id }) => id);
    const diff = (await inspector.diff(from!, to!))!;
    const saidAgain = [...diff.removed.map(({ item }) => item), ...diff.added].filter(
      ({ preview }) => preview.startsWith("between"),
    );
    expect(saidAgain).toEqual([]);
    expect(diff.added.map(({ preview }) => preview)).toContain("afterwards");
  });

  it("is traced through all calls that showed it, by either id and by its number", async () => {
    const { inspector, before, after, calls } = await undoneSession();
    const [left, kept] = [numbered(before, "between"), numbered(after, "between")];
    const traces = [left.entryId, kept.entryId, String(kept.number)].map((name) =>
      inspector.trace(name),
    );
    for (const trace of await Promise.all(traces)) {
      const [range, ...others] = trace!.ranges;
      expect(others).toEqual([]);
      expect([range!.from, range!.to, range!.calls]).toEqual([
        ...[calls.at(-3)!.id, calls.at(-1)!.id, 3],
      ]);
    }
  });

  it("leaves the summary out, which says that its compaction was undone, or what replaced it", async () => {
    const { inspector, calls } = await undoneSession();
    const reasonOf = async (from: string, to: string) =>
      (await inspector.diff(from, to))!.removed.find(({ item }) => item.summaryId !== null)?.why;
    const [with1, without] = calls.slice(-2).map(({ id }) => id) as [string, string];
    expect(await reasonOf(with1, without)).toMatch(
      /^its compaction was undone [\d-]+ [\d:]+; no summary stands in its place$/,
    );
    expect(await reasonOf(without, with1)).toBeUndefined();
    const before = calls.at(-4)!.id;
    expect(await reasonOf(with1, before)).toBe("it was made later only");
    const again = await startTestGateway({
      agents: { defaults: { contextTokens: 64_000, compaction: { keepRecentTokens: 2000 } } },
    });
    for (let turn = 1; turn <= 16; turn++)
      await again.say(turn % 8 === 0 ? "/compact" : `No. ${turn}: ${WORDS}`);
    await again.say("last");
    const twice = await again.gateway.inspect("main");
    const rows = (await twice.calls({ limit: 1000 }))!.calls;
    const { removed, added } = (await twice.diff(rows.at(-2)!.id, rows.at(-1)!.id))!;
    const second = added.find(({ summaryId }) => summaryId !== null)!.summaryId!;
    expect(removed.find(({ item }) => item.summaryId !== null)!.why).toMatch(
      new RegExp(`^summary ${second}, made [\\d-]+ [\\d:]+, stands in its place$`),
    );
  });

  it("is told after the compaction that it undoes", async () => {
    const { calls } = await undoneSession();
    expect(calls.at(-1)!.happened).toEqual(["a compaction was undone"]);
    const { say, gateway } = await startTestGateway({
      agents: { defaults: { contextTokens: 64_000, compaction: { keepRecentTokens: 2000 } } },
    });
    for (let turn = 1; turn <= 8; turn++) await say(`No. ${turn}: ${WORDS}`);
    await say("/compact");
    await say("/compact undo");
    await say("afterwards");
    const inspector = await gateway.inspect("main");
    const { calls: own } = (await inspector.calls({ limit: 1000 }))!;
    expect(own.at(-1)!.happened).toEqual([
      expect.stringMatching(/^compaction: [\d,]+ → [\d,]+ tokens$/),
      "a compaction was undone",
    ]);
  });
});

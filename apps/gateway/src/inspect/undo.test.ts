import { describe, expect, it } from "vitest";
import { startTestGateway } from "../testing/gateway.ts";
import type { EntryRow } from "./shapes.ts";

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

import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryHome } from "../../testing/home.ts";
import { readRecentTurns } from "./recent-turns.ts";

const line = (
  minute: number,
  degraded: object | null,
  compactions: object[] = [],
  odd: object = {},
) =>
  `${JSON.stringify({ v: 1, startedAt: `2026-01-01T00:${String(minute).padStart(2, "0")}:00.000Z`, engine: { configured: "other", ran: "mine", degraded }, compactions, ...odd })}\n`;

describe("recent turns", () => {
  it("are counted over sessions, oldest first, whatever else is in the files", async () => {
    const folder = join(await temporaryHome(), "reports");
    await mkdir(folder);
    const compaction = (tokensBefore: number, tokensAfter: number | null, compacted = true) => ({
      ok: true,
      compacted,
      tokensBefore,
      tokensAfter,
    });
    await writeFile(
      join(folder, "a.jsonl"),
      line(3, { operation: "assemble", reason: "newest" }, [], {
        views: { fallbacks: 2, aligned: 1 },
        budget: null,
      }) +
        line(
          1,
          null,
          [compaction(10, 10), compaction(10, 2), compaction(5, null), compaction(9, 9, false)],
          {
            views: { fallbacks: 0, aligned: 3 },
            budget: { underEstimated: true },
          },
        ),
    );
    await writeFile(
      join(folder, "b.jsonl"),
      `not json\n${line(2, { operation: "compact", reason: "older" })}{"v":2}\n{"v":1,"half`,
    );
    expect(await readRecentTurns(folder, "mine")).toEqual({
      ...{ turns: 3, own: 3 },
      degraded: 2,
      lastDegraded: {
        ...{ at: "2026-01-01T00:03:00.000Z", engineId: "other" },
        ...{ operation: "assemble", reason: "newest" },
      },
      compactions: 3,
      idleCompactions: 1,
      badViews: 1,
      alignedViews: 2,
      underEstimates: 1,
    });
  });

  it("count as faults of an engine only what it did itself", async () => {
    const folder = join(await temporaryHome(), "reports");
    await mkdir(folder);
    await writeFile(
      join(folder, "a.jsonl"),
      line(1, null, [], { budget: { underEstimated: true }, views: { fallbacks: 1 } }),
    );
    expect(await readRecentTurns(folder, "another")).toMatchObject({
      ...{ turns: 1, own: 0, underEstimates: 0, badViews: 0 },
    });
  });

  it("are none where there are no reports", async () => {
    expect(await readRecentTurns("/nowhere", "mine")).toEqual({
      ...{ turns: 0, own: 0 },
      degraded: 0,
      lastDegraded: null,
      compactions: 0,
      idleCompactions: 0,
      badViews: 0,
      alignedViews: 0,
      underEstimates: 0,
    });
  });
});

import { describe, expect, it } from "vitest";
import { makeDays } from "./days.ts";
import { lastNamed, names, notNamedOnce, pastLines, saidOfDay } from "./judge-lines.ts";

const RECORD = `Some text.
- sum_9 #1-#6 2026-01-05 08:00 to 2026-01-07 09:00: 2026-01-05 asked "mend it" | 2026-01-06 to 2026-01-07 files a.ts
- sum_4 #7-#8 2026-01-08 08:00-09:00 2 messages: asked "the amber cache"
- #9 2026-01-09 08:00`;

describe("lines of a record", () => {
  const lines = pastLines(RECORD);

  it("are those that name messages, and say which are named once", () => {
    expect(lines).toHaveLength(3);
    expect(lastNamed(lines)).toBe(9);
    expect(notNamedOnce(lines, 12)).toBe(0);
    expect(notNamedOnce(lines.slice(1), 12)).toBe(6);
    expect(notNamedOnce([...lines, lines[1]!], 12)).toBe(2);
  });

  it("say of a day what stands behind its date", () => {
    expect(saidOfDay(lines, "2026-01-05")).toContain("mend it");
    expect(saidOfDay(lines, "2026-01-05")).not.toContain("a.ts");
    expect(saidOfDay(lines, "2026-01-07")).toContain("a.ts");
    expect(saidOfDay(lines, "2026-01-08")).toContain("amber cache");
    expect(saidOfDay(lines, "2026-01-10")).toBe("");
  });
});

describe("a session of many days", () => {
  it("is the same for one seed, of its size, and names each task on its day", () => {
    const of = { seed: 3, days: 4, tokens: 40_000 };
    const { messages, tasks } = makeDays(of);
    expect(makeDays(of)).toEqual({ messages, tasks });
    const chars = JSON.stringify(messages).length;
    expect(chars).toBeGreaterThan(4 * of.tokens);
    expect(new Set(tasks.map(({ day }) => day)).size).toBe(4);
    for (const task of tasks) {
      const ofDay = messages.filter(
        ({ timestamp }) => new Date(timestamp!).toISOString().slice(0, 10) === task.day,
      );
      expect(names(JSON.stringify(ofDay), task)).toBe(true);
    }
  });
});

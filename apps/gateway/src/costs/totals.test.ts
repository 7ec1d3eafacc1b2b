// Counts lines of sessions that are deleted, and come again.
import { describe, expect, it } from "vitest";
import type { CostLine } from "./line.ts";
import { countLine, noTotals } from "./totals.ts";

const DAY = "2026-11-29";
const at = (second: number) => new Date(Date.UTC(2026, 10, 29, 0, 0, second)).toISOString();

const begun = (session: string, second: number): CostLine => ({
  ...{ kind: "begun", v: 1, at: at(second), id: `${session} ${second}` },
  ...{ agent: "main", session, root: session, engine: null, model: "one/model" },
});
const deleted = (session: string, second: number): CostLine => ({
  ...{ kind: "deleted", v: 1, at: at(second), session },
});

function counted(lines: Iterable<CostLine>) {
  const totals = noTotals();
  for (const line of lines) countLine(totals, DAY, line);
  return totals;
}

describe("sums of sessions", () => {
  it("know of the newest thousand that are deleted when that was, and of no others", () => {
    const names = Array.from({ length: 1_200 }, (_, at) => `session ${at}`);
    const totals = counted(
      names.flatMap((name, at) => [begun(name, 2 * at), deleted(name, 2 * at + 1)]),
    );
    expect(Object.keys(totals.renewed)).toEqual(names.slice(200));
    expect(totals.gone).toEqual(names.slice(200));
    expect([totals.sessions, totals.open]).toEqual([{}, {}]);
  });

  it("know for as long as it lives when a name was free that somebody took", () => {
    const others = Array.from({ length: 1_200 }, (_, at) => deleted(`other ${at}`, 10 + at));
    const totals = counted([begun("taken", 1), deleted("taken", 2), begun("taken", 3), ...others]);
    expect(totals.renewed.taken).toBe(at(2));
    expect(totals.sessions.taken?.unended).toBe(1);
  });
});

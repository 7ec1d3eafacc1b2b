import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { newestFirst } from "../sessions/list-sessions.ts";
import { pageOfList } from "./page-of-list.ts";

const row = (key: string, updatedAt: string, depth = 0) => ({ key, updatedAt, depth, child: null });

describe("a page of the list of sessions", () => {
  it("follows the one before it: together they hold every session once, in order", () => {
    const families = fc.array(fc.tuple(fc.integer({ min: 0, max: 9 }), fc.nat(2)), {
      maxLength: 30,
    });
    fc.assert(
      fc.property(families, fc.integer({ min: 1, max: 7 }), (all, limit) => {
        const roots = all.map(([time], at) => row(`agent:main:s${at}`, `2026-0${time}`));
        const rows = roots.toSorted(newestFirst).flatMap((root) => {
          const count = all[Number(root.key.slice("agent:main:s".length))]![1];
          const below = Array.from({ length: count }, (_, at) =>
            row(`${root.key}-child-${at}`, "2025", 1),
          );
          return [root, ...below];
        });
        const seen: string[] = [];
        let after: string | undefined;
        for (let pages = 0; pages <= all.length; pages++) {
          const page = pageOfList(rows, { limit, after });
          expect(page.sessions.filter(({ depth }) => depth === 0).length).toBeLessThanOrEqual(
            limit,
          );
          seen.push(...page.sessions.map(({ key }) => key));
          if (page.next === null) break;
          after = page.next;
        }
        expect(seen).toEqual(rows.map(({ key }) => key));
      }),
    );
  });

  it("begins nowhere in silence: a place that no page gave is refused", () => {
    const rows = [row("agent:main:a", "2026-01")];
    expect(() => pageOfList(rows, { limit: 1, after: "zzz" })).toThrow(
      'after=zzz is no place in the list; give the "next" of the page before',
    );
  });

  it("holds those only whose name, or whose child's, has the text", () => {
    const rows = [
      ...[row("agent:main:Alpha", "3"), row("agent:main:beta", "2")],
      ...[row("agent:main:alphabet", "1", 1), row("agent:main:gamma", "1")],
    ];
    const found = pageOfList(rows, { limit: 10, find: "ALPHA" }).sessions;
    expect(found.map(({ key }) => key.slice("agent:main:".length))).toEqual([
      ...["Alpha", "beta", "alphabet"],
    ]);
  });

  it("goes on where it was although what was before has changed meanwhile", () => {
    const [a, b, c] = [row("a", "3"), row("b", "2"), row("c", "1")];
    const { next } = pageOfList([a, b, c], { limit: 2 });
    const page = pageOfList([row("b", "4"), a, c], { limit: 2, after: next! });
    expect(page).toEqual({ sessions: [c], next: null });
  });
});

import { expect, it } from "vitest";
import { planRecall, roomOfEach } from "./plan-recall.ts";

const OURS = new Set(["session_search"]);

function planned(...names: readonly string[]) {
  const content = names.map((name, at) => ({
    ...{ type: "toolCall" as const, id: `c${at}`, name, arguments: {} },
  }));
  return planRecall({ content }, OURS);
}

it("gives the calls of one reply as much room each, and leaves as much for the next reply", () => {
  const calls = planned("session_search", "read", "session_search", "session_search");
  let left = 4_000;
  const given: number[] = [];
  for (const [at, { kind }] of calls.entries()) {
    if (kind !== "run") continue;
    const room = roomOfEach(left, calls.slice(at));
    given.push(room);
    left -= room;
  }
  expect(given).toEqual([1_000, 1_000, 1_000]);
  expect(left).toBe(1_000);
});

// Comes to the answer of a turn, hears it, and leaves.
import { expect, it } from "vitest";
import { wholeRound } from "../../whole-round.ts";
import { createAttendance } from "./attendance.ts";

function start() {
  const noted: string[] = [];
  const aborted: string[] = [];
  const attendance = createAttendance({
    abort: (why) => aborted.push(why),
    note: (fate) => noted.push(fate),
    backMs: 60_000,
  });
  const come = () => {
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const lost = new AbortController();
    const answering = { ended, hasEnded: false };
    attendance.add(answering, lost.signal, false);
    return {
      leave: () => lost.abort(),
      async hear() {
        answering.hasEnded = true;
        end();
        await wholeRound();
      },
    };
  };
  return { attendance, come, noted, aborted };
}

it("a turn goes on while one of its clients is there", () => {
  const { come, noted, aborted } = start();
  const [one, other] = [come(), come()];
  one.leave();
  expect([noted, aborted]).toEqual([["heard", "heard"], []]);
  other.leave();
  expect(noted.at(-1)).toBe("left");
  expect(aborted).toEqual(["The client went away."]);
});

it("an answer that one client has heard is not missed because another leaves", async () => {
  const { come, noted, aborted } = start();
  const [one, other] = [come(), come()];
  await one.hear();
  other.leave();
  expect(noted).not.toContain("left");
  // Its connection closes before it has read all of it.
  one.leave();
  expect(noted.at(-1)).toBe("left");
  expect(aborted).toEqual([]);
});

it("the next answer of the turn may still be missed by who heard the one before", async () => {
  const { attendance, come, noted, aborted } = start();
  const [one, other] = [come(), come()];
  await one.hear();
  attendance.goOn();
  other.leave();
  expect(noted.at(-1)).toBe("left");
  expect(aborted).toEqual(["The client went away."]);
});

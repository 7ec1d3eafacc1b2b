// Finds the calls of a recording that a session has made itself.
import { expect, it } from "vitest";
import type { RecordedTurn } from "../replay/recorded-turns.ts";
import { type OwnCall, planOwnCalls } from "./session-recording.ts";

interface Told {
  id: string;
  prompt: string | null;
  reply: string;
  /** At the door, where each request has a report of its own. */
  isAtDoor: boolean;
}

const callOf = ({ id, prompt, reply, isAtDoor }: Told) =>
  ({
    report: {
      ...{ promptEntryId: prompt, replyEntryId: reply, modelCalls: [{}] },
      ...(isAtDoor && { door: {} }),
    },
    call: { error: null },
    row: { id, call: 1 },
  }) as unknown as OwnCall;

it("a turn that began at the door and went on by the session's name has all its calls", () => {
  const turn = { promptEntryId: "asked", steps: [{ replyEntryId: "called" }, {}] };
  const calls = [
    callOf({ id: "1.1", prompt: "asked", reply: "called", isAtDoor: true }),
    callOf({ id: "2.1", prompt: "asked", reply: "answered", isAtDoor: false }),
  ];
  expect(planOwnCalls(calls, [turn as unknown as RecordedTurn])).toEqual(
    new Map([["asked", new Map([...["1.1", "2.1"].entries()])]]),
  );
});

it("a turn that was begun anew has the calls it was answered by", () => {
  const calls = ["1.1", "2.1"].map((id) =>
    callOf({ id, prompt: "asked", reply: id, isAtDoor: false }),
  );
  expect(planOwnCalls(calls, [])).toEqual(new Map([["asked", new Map([[0, "2.1"]])]]));
});

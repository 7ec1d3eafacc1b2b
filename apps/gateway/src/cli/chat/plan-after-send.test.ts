import { expect, it } from "vitest";
import type { Sent } from "./api.ts";
import { planAfterSend } from "./plan-after-send.ts";

const WAITING = { isWaiting: true, isLineEmpty: true };
const refused = (code: string): Sent => ({ kind: "refused", code, message: "No." });

it.each(["AWAY", "GATEWAY_STOPPING"])(
  "a message that met %s is sent again while it waits",
  (code) => {
    expect(planAfterSend(refused(code), "hello", WAITING)).toEqual({ kind: "again" });
    const taken = planAfterSend(refused(code), "hello", { ...WAITING, isWaiting: false });
    expect(taken).toEqual({ kind: "refused", problem: `No. [${code}]`, isKept: false });
  },
);

it("a command is not sent again: nobody knows what it did", () => {
  const kept = { kind: "refused", problem: "No. [AWAY]", isKept: true };
  expect(planAfterSend(refused("AWAY"), "/compact", WAITING)).toEqual(kept);
});

it("what was refused goes back into the line where nothing is written in it", () => {
  const kept = (isLineEmpty: boolean) =>
    planAfterSend(refused("QUEUE_FULL"), "hello", { isWaiting: true, isLineEmpty });
  expect(kept(true)).toMatchObject({ kind: "refused", isKept: true });
  expect(kept(false)).toMatchObject({ kind: "refused", isKept: false });
});

it("a message that was said, or stopped, is told by its session", () => {
  expect(planAfterSend({ kind: "said" }, "hello", WAITING)).toEqual({ kind: "said" });
  expect(planAfterSend(refused("ABORTED"), "hello", WAITING)).toEqual({ kind: "said" });
});

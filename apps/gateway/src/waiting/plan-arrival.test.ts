import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { planArrival } from "./plan-arrival.ts";

const LIMITS = { waitingMessages: 3, waitingBytes: 1000, waitingTurns: 5 };
const FREE = { isBusy: false, waiting: { messages: 0, bytes: 0 }, hasRoom: true, backlog: 0 };
const MESSAGE = { whenBusy: "follow", bytes: 10, isPatient: false } as const;

describe("a message that arrives", () => {
  it("begins where nothing is before it", () => {
    expect(planArrival({ ...MESSAGE, whenBusy: "refuse" }, FREE, LIMITS)).toEqual({
      kind: "begin",
    });
  });

  it("waits behind what is before it, in its session or in the gateway", () => {
    expect(planArrival(MESSAGE, { ...FREE, isBusy: true }, LIMITS)).toEqual({ kind: "wait" });
    expect(planArrival(MESSAGE, { ...FREE, hasRoom: false }, LIMITS)).toEqual({ kind: "wait" });
    const refusing = { ...MESSAGE, whenBusy: "refuse" } as const;
    expect(planArrival(refusing, { ...FREE, hasRoom: false }, LIMITS)).toEqual({ kind: "wait" });
    expect(planArrival(refusing, { ...FREE, isBusy: true }, LIMITS)).toEqual({ kind: "busy" });
  });

  it("is refused where too much waits, unless nobody could send it again", () => {
    const full = { ...FREE, isBusy: true, waiting: { messages: 1, bytes: 995 } };
    expect(planArrival(MESSAGE, full, LIMITS)).toEqual({ kind: "full", where: "session" });
    expect(planArrival({ ...MESSAGE, isPatient: true }, full, LIMITS)).toEqual({ kind: "wait" });
    const far = { ...FREE, hasRoom: false, backlog: 5 };
    expect(planArrival(MESSAGE, far, LIMITS)).toEqual({ kind: "full", where: "gateway" });
  });

  it("never lets more wait than the limits say, but for one message that is larger than all may be", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 1500 }), { maxLength: 20 }), (sizes) => {
        const waiting = { messages: 0, bytes: 0 };
        for (const bytes of sizes) {
          const standing = { ...FREE, isBusy: true, waiting, backlog: waiting.messages };
          const { kind } = planArrival({ ...MESSAGE, bytes }, standing, LIMITS);
          if (kind !== "wait") continue;
          waiting.messages++;
          waiting.bytes += bytes;
        }
        expect(waiting.messages).toBeLessThanOrEqual(LIMITS.waitingMessages);
        if (waiting.messages > 1) expect(waiting.bytes).toBeLessThanOrEqual(LIMITS.waitingBytes);
      }),
    );
  });
});

import { describe, expect, it } from "vitest";
import type { ThreadState } from "./binding.ts";
import { planBroken, planFailed, planStopped, type TurnStanding } from "./plan-turn-end.ts";

const standing = (state: ThreadState, more: Partial<TurnStanding> = {}): TurnStanding => ({
  ...{ binding: { state }, turnId: "t1", hasAnswered: true, refusal: null },
  ...more,
});

describe("the thread of a turn that has no reply", () => {
  it("holds a turn that has to go", () => {
    const running = standing({ name: "running", turnId: "t1" });
    expect(planFailed(running, "It ended.").state).toEqual({ name: "failed", turnId: "t1" });
  });

  it("is still to be opened where no model has seen it", () => {
    const opening = standing({ name: "opening" }, { hasAnswered: false });
    expect(planFailed(opening, "It ended.").state).toEqual({ name: "opening" });
  });

  it("is of nobody's interest where it was for this turn alone", () => {
    const alone = standing({ name: "ready" }, { binding: null });
    expect(planStopped(alone, { isAborted: true, silentForS: undefined })).toEqual({
      ...{ outcome: { status: "interrupted" }, state: undefined },
    });
  });

  it("is stale where its context was too large", () => {
    const told = { message: "too large", codexErrorInfo: "contextWindowExceeded" };
    const { outcome, state } = planBroken(standing({ name: "running", turnId: "t1" }), {
      ...{ status: "failed", told },
    });
    expect(outcome).toMatchObject({ status: "failed", error: { kind: "overflow" } });
    expect(state).toMatchObject({ name: "stale" });
  });
});

describe("a turn that was stopped", () => {
  const refusal = { kind: "auth" as const, message: "No such key." };

  it("fails by what its provider refused, unless somebody stopped it", () => {
    const refused = standing({ name: "running", turnId: "t1" }, { refusal });
    const stop = { isAborted: false, silentForS: undefined };
    expect(planStopped(refused, stop).outcome).toEqual({ status: "failed", error: refusal });
    expect(planStopped(refused, { ...stop, isAborted: true }).outcome).toEqual({
      status: "interrupted",
    });
  });

  it("fails where Codex said nothing", () => {
    const silent = standing({ name: "running", turnId: "t1" });
    expect(planStopped(silent, { isAborted: false, silentForS: 60 }).outcome).toMatchObject({
      ...{ status: "failed", error: { kind: "timeout" } },
    });
  });
});

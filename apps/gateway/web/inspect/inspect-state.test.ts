import { describe, expect, it } from "vitest";
import { callRow, entryRow } from "../testing/calls.ts";
import {
  callBefore,
  callShown,
  missingCalls,
  PAGE_SIZE,
  placeOfRow,
  rowAt,
  stepCompared,
  stepFrom,
} from "./inspect-state.ts";
import { NEWEST } from "./place.ts";

const rows = [callRow("1.1"), callRow("1.2"), callRow("2.1")];
const at = (call: string | null, from: string | null = null) => ({
  ...{ rows, letGoTurns: 0, unreadableTurns: [], missingTurns: [] },
  place: { ...NEWEST, call, from },
});

describe("the call shown", () => {
  it("is the newest unless another is named, and compared with the one before", () => {
    expect([callShown(at(null)), callBefore(at(null))]).toEqual(["2.1", "1.2"]);
    expect([callShown(at("1.2")), callBefore(at("1.2"))]).toEqual(["1.2", "1.1"]);
    expect(callBefore(at("1.1"))).toBeNull();
    expect(callBefore(at("2.1", "1.1"))).toBe("1.1");
    expect(callShown({ rows: [], place: NEWEST })).toBeNull();
  });

  it("is told to be missing, whatever else there is", () => {
    expect(missingCalls(at(null))).toEqual([undefined, undefined]);
    expect(missingCalls(at("2.1", "1.1"))).toEqual([undefined, undefined]);
    expect(missingCalls(at("99.1"))[0]).toBe(
      "There is no call 99.1 in this session; the newest one is 2.1.",
    );
    expect(missingCalls(at("1.1", "88.8"))).toEqual([
      undefined,
      "There is no call 88.8 in this session to compare with; the newest one is 2.1.",
    ]);
    expect(missingCalls(at("abc"))[0]).toBe(
      "There is no call abc in this session; the newest one is 2.1.",
    );
    expect(missingCalls({ ...at("1.1"), rows: [] })[0]).toBe(
      "There is no call 1.1: no model was called in this session.",
    );
  });

  it("is told to be let go with the turns before those that are kept", () => {
    expect(missingCalls({ ...at("40.2"), letGoTurns: 40 })[0]).toBe(
      "There is no call 40.2 any more: turns 1–40 were let go (gateway.limits.reportBytes).",
    );
  });

  it("is never compared with itself, however it is stepped to or named", () => {
    expect(callBefore(at("2.1", "2.1"))).toBe("1.2");
    expect(stepCompared(at(null), 1)).toBeNull();
    expect(stepCompared(at("1.2"), 1)).toBe("2.1");
    expect(stepCompared(at("1.2", "2.1"), -1)).toBe("1.1");
    expect(stepCompared(at("2.1"), -1)).toBe("1.1");
    expect(stepCompared(at("1.1"), 1)).toBe("1.2");
    expect(stepCompared(at("1.1"), -1)).toBeNull();
  });

  it("is left by steps, at whose end the newest is followed", () => {
    expect(stepFrom(at(null), "2.1", -1)?.call).toBe("1.2");
    expect(stepFrom(at("1.2"), "1.2", 1)?.call).toBeNull();
    expect(stepFrom(at("1.1"), "1.1", -1)).toBeNull();
    expect(stepFrom(at(null), "2.1", 1)).toBeNull();
  });
});

describe("pages of entries", () => {
  it("are found by the place in the list, if they are read", () => {
    const page = Array.from({ length: PAGE_SIZE }, (_, index) => entryRow(PAGE_SIZE + index + 1));
    const entries = { total: 3 * PAGE_SIZE, size: PAGE_SIZE, pages: new Map([[1, page]]) };
    expect(rowAt(entries, PAGE_SIZE + 4)?.number).toBe(PAGE_SIZE + 5);
    expect(rowAt(entries, 4)).toBeUndefined();
    expect(placeOfRow(entries, ({ number }) => number === PAGE_SIZE + 5)).toBe(PAGE_SIZE + 4);
    expect(placeOfRow(entries, ({ number }) => number === 1)).toBe(-1);
  });
});

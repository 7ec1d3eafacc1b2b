import { describe, expect, it } from "vitest";
import { breaksConnection, mayBeDone, passes, waitBefore } from "./passing.ts";

const withCode = (code: string) => Object.assign(new Error("no"), { code });

describe("a failure of the database", () => {
  it.each([
    ...["40001", "40P01", "53300", "57P01", "57P03", "57P05", "08006", "25006", "26000"],
    ...["ECONNRESET", "ECONNREFUSED", "EPIPE", "ENOENT", "EBUSY"],
  ])("%s is tried again", (code) => expect(passes(withCode(code))).toBe(true));

  it("of a connection that ended without a code is tried again", () =>
    expect(passes(new Error("Connection terminated unexpectedly"))).toBe(true));

  it.each(["23505", "42P01", "28P01", "53100"])("%s is told at once", (code) =>
    expect(passes(withCode(code))).toBe(false),
  );

  it("that is a mistake of ours is told at once", () =>
    expect(passes(new TypeError("x is not a function"))).toBe(false));

  it("of a statement leaves its connection as it is", () => {
    expect(breaksConnection(withCode("40001"))).toBe(false);
    expect(breaksConnection(withCode("57P01"))).toBe(true);
    expect(breaksConnection(withCode("EPIPE"))).toBe(true);
    // Its server has become a standby; another one listens at the address, or soon will.
    expect(breaksConnection(withCode("25006"))).toBe(true);
    expect(breaksConnection(new Error("Query read timeout"))).toBe(true);
  });

  it("leaves open whether the statement was run, unless the database itself refused it", () => {
    for (const code of ["08006", "57P01", "EPIPE", "ETIMEDOUT"])
      expect([code, mayBeDone(withCode(code))]).toEqual([code, true]);
    expect(mayBeDone(new Error("Query read timeout"))).toBe(true);
    for (const code of ["53100", "40001", "42501", "57014", "25006"])
      expect([code, mayBeDone(withCode(code))]).toEqual([code, false]);
  });

  it("is waited for longer each time, and not by everybody equally long", () => {
    const waits = [0, 1, 2, 3, 4].map((retry) => waitBefore(retry, 0.5));
    expect(waits).toEqual([50, 100, 200, 400, 800]);
    expect(waitBefore(4, 1)).toBeGreaterThan(waitBefore(4, 0));
    expect(waitBefore(40, 1)).toBeLessThan(2000);
  });
});

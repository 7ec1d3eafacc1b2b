import { describe, expect, it } from "vitest";
import { hashOfSession, sessionInHash } from "./address.ts";

describe("the session in the address", () => {
  it("comes back as it went in, in its short form", () => {
    for (const name of ["main", "a/b c#d", "ü%2F", "agent:work:main"])
      expect(sessionInHash(hashOfSession(name))).toBe(name);
    expect(sessionInHash(hashOfSession("agent:main:cats"))).toBe("cats");
  });

  it("is the default one when there is none or it cannot be read", () => {
    expect([sessionInHash(""), sessionInHash("#"), sessionInHash("#%")]).toEqual([
      "main",
      "main",
      "main",
    ]);
  });
});

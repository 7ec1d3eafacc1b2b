import { describe, expect, it } from "vitest";
import { planTrail, readAddress, writeAddress } from "./address.ts";
import { NEWEST } from "./inspect/place.ts";

const comesBack = (session: string) => readAddress(writeAddress({ session, place: null })).session;

describe("the session in the address", () => {
  it("comes back as it went in, in its short form", () => {
    for (const name of ["main", "a/b c#d", "ü%2F", "agent:work:main"])
      expect(comesBack(name)).toBe(name);
    expect(comesBack("agent:main:cats")).toBe("cats");
  });

  it("is the default one when there is none or it cannot be read", () => {
    expect(["", "#", "#%"].map((hash) => readAddress(hash).session)).toEqual([
      "main",
      "main",
      "main",
    ]);
  });

  it("leaves a trail of each step, and none where only the words differ", () => {
    expect(planTrail("#main/calls/7.5", "#main/calls/7.5")).toBe("keep");
    expect(planTrail("", "#main")).toBe("replace");
    expect(planTrail("#agent:main:main/calls", "#main/calls")).toBe("replace");
    expect(planTrail("#main", "#main/calls")).toBe("push");
    expect(planTrail("#main/calls", "#main/calls/7.5")).toBe("push");
    expect(planTrail("#main/calls/7.5", "#main/calls/7.5?summary=C1")).toBe("push");
    expect(planTrail("#main/calls/turn%207", "#main/calls/t7")).toBe("replace");
    expect(planTrail("#main/calls/t7?fate=shown", "#main/calls/7.1?fate=shown")).toBe("replace");
    expect(planTrail("#main/calls/t7", "#main/calls/8.1")).toBe("push");
  });

  it("may be followed by a call", () => {
    const place = { ...NEWEST, call: "58.3", from: "57.1" };
    const hash = writeAddress({ session: "a/b", place });
    expect(hash).toBe("#a%2Fb/calls/58.3?from=57.1");
    expect(readAddress(hash)).toEqual({ session: "a/b", place });
    expect(readAddress("#main")).toEqual({ session: "main", place: null });
  });
});

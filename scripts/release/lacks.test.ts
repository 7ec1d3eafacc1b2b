import { describe, expect, it } from "vitest";
import { CHECKS } from "./checks.mjs";
import { isBelow, LACKS, lacksOf } from "./lacks.mjs";

const whats = (place: { node: string; system: string }) => lacksOf(place).map(({ what }) => what);

describe("what a Node or a system lacks", () => {
  it("names only checks there are", () => {
    const named = LACKS.flatMap(({ checks = [] }) => checks);
    expect(named.filter((name) => !Object.hasOwn(CHECKS, name))).toEqual([]);
  });

  it("is said with a reason, for a system or for older Nodes", () => {
    for (const { what, why, systems, below } of LACKS) {
      expect(why.length, what).toBeGreaterThan(20);
      expect(systems ?? below, what).toBeDefined();
    }
  });

  it("is nothing on Linux with a Node that has everything", () => {
    expect(whats({ node: "24.11.0", system: "linux" })).toEqual([]);
  });

  it("counts the gateway in below Node 24.11, and signals on Windows", () => {
    expect(whats({ node: "22.15.0", system: "linux" })).toContain("the gateway and its command");
    expect(whats({ node: "26.10.0", system: "win32" })).toContain("a clean stop by SIGTERM");
  });

  it.each([
    ["22.9.0", "22.15", true],
    ["22.15.0", "22.15", false],
    ["24.10.9", "24.11", true],
    ["26.0.0", "24.11", false],
  ])("takes %s below %s for %s", (version, floor, expected) => {
    expect(isBelow(version, floor)).toBe(expected);
  });
});

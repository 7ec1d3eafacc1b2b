import { describe, expect, it } from "vitest";
import type { SessionRow } from "../api.ts";
import { familyOf } from "./family.ts";

const row = (key: string, depth: number): SessionRow => ({
  ...{ key: `agent:main:${key}`, updatedAt: "", busy: false, demo: false, depth, child: null },
});

describe("the family of a session", () => {
  it("is the one that nobody started, and all below it", () => {
    const sessions = [
      row("a", 0),
      row("a1", 1),
      row("a2", 2),
      row("b", 0),
      row("c", 0),
      row("c1", 1),
    ];
    const family = (key: string) => familyOf(sessions, key).map((each) => each.key.slice(11));
    expect(family("a2")).toEqual(["a", "a1", "a2"]);
    expect(family("b")).toEqual(["b"]);
    expect(family("agent:main:c")).toEqual(["c", "c1"]);
    expect(family("new")).toEqual([]);
  });
});

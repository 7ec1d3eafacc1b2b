import { describe, expect, it } from "vitest";
import { isNew } from "./shared-events.ts";

const text = (id: string) => ({ id, type: "text" as const });

describe("an event that several pages are told of", () => {
  it("is taken once, and only behind what was under way before it", () => {
    expect(isNew(text("a.3"), null)).toBe(false);
    expect(isNew({ id: "a.3", type: "hello" }, null)).toBe(true);
    expect(isNew(text("a.4"), "a.3")).toBe(true);
    expect(isNew(text("a.3"), "a.3")).toBe(false);
    expect(isNew(text("a.10"), "a.9")).toBe(true);
  });

  it("of a gateway that was started anew is new, whatever its number", () => {
    expect(isNew(text("b.1"), "a.3")).toBe(true);
    expect(isNew({ id: "b.1", type: "reset" }, "a.3")).toBe(true);
  });
});

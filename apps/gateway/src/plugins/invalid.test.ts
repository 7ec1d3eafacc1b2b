import { describe, expect, it } from "vitest";
import { messageOf } from "./invalid.ts";

describe("the message of what was thrown", () => {
  it("tells what is in an object that is no error", () => {
    expect(messageOf({ odd: "stray" })).toBe("{ odd: 'stray' }");
    expect(messageOf({ message: "told", code: 5 })).toBe("told");
    expect(messageOf(Object.create(null))).toBe("[Object: null prototype] {}");
    expect(messageOf(["a".repeat(1000)])).toMatch(/^.{200}…$/);
    expect(messageOf("plain")).toBe("plain");
    expect(messageOf(Symbol("odd"))).toBe("Symbol(odd)");
  });
});

import { ContextEngineError } from "@clew/plugin-sdk/core";
import { describe, expect, it } from "vitest";
import { exitCodeOf } from "./exit-codes.ts";

describe("the exit code", () => {
  it("is 130 for what was cancelled, 2 for what was typed wrongly, and 1 for the rest", () => {
    const cancelled = new DOMException("x", "AbortError");
    expect(exitCodeOf(cancelled)).toBe(130);
    expect(exitCodeOf(new Error("wrapped", { cause: cancelled }))).toBe(130);
    expect(exitCodeOf(new ContextEngineError("REQUEST_INVALID", "x"))).toBe(2);
    expect(exitCodeOf(new ContextEngineError("STORAGE_FAILED", "x"))).toBe(1);
    expect(exitCodeOf(new Error("x"))).toBe(1);
  });
});

import { describe, expect, it, vi } from "vitest";
import { ContextEngineError, ERROR_CODES, isAbort } from "./errors.ts";

describe("ContextEngineError", () => {
  it("carries code, engine, operation and cause, and is an Error", () => {
    const cause = new Error("locked");
    const error = new ContextEngineError("ENGINE_TIMEOUT", "The engine is slow.", {
      engineId: "lossless",
      operation: "assemble",
      cause,
    });
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({
      name: "ContextEngineError",
      code: "ENGINE_TIMEOUT",
      message: "The engine is slow.",
      engineId: "lossless",
      operation: "assemble",
      cause,
    });
    expect(new ContextEngineError("CONFIG_INVALID", "x")).not.toHaveProperty("engineId");
    expect("cause" in new ContextEngineError("CONFIG_INVALID", "x")).toBe(false);
  });

  it("is recognised by code and across copies of this package", async () => {
    vi.resetModules();
    const copy = await import("./errors.ts");
    const error: unknown = new copy.ContextEngineError("SESSION_LOCKED", "x");
    expect(error).not.toBeInstanceOf(ContextEngineError);
    expect(ContextEngineError.is(error)).toBe(true);
    expect(ContextEngineError.is(error, "SESSION_LOCKED")).toBe(true);
    expect(ContextEngineError.is(error, "SESSION_CLOSED")).toBe(false);
    expect(
      [new Error("x"), null, undefined, "x", {}].some((value) => ContextEngineError.is(value)),
    ).toBe(false);
  });

  it("has no code twice", () => {
    expect(new Set(ERROR_CODES).size).toBe(ERROR_CODES.length);
  });
});

describe("isAbort", () => {
  it("knows the platform's AbortError, the signal's own reason, and either as a cause", () => {
    const reason = new Error("user left");
    const { signal } = new AbortController();
    expect(isAbort(new DOMException("x", "AbortError"))).toBe(true);
    expect(isAbort(reason, AbortSignal.abort(reason))).toBe(true);
    expect(isAbort(new Error("wrapped", { cause: new DOMException("x", "AbortError") }))).toBe(
      true,
    );
    expect(isAbort(reason, signal)).toBe(false);
    expect(isAbort(new DOMException("late", "TimeoutError"))).toBe(false);
  });

  it("ends on causes that run in a circle and on what is no error", () => {
    const circle: { cause?: unknown } = {};
    circle.cause = circle;
    expect([circle, null, undefined, "x"].map((value) => isAbort(value))).toEqual([
      false,
      false,
      false,
      false,
    ]);
  });

  it("and the class of an error, are asked of anything that may be thrown", () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    const nameless = Object.defineProperty({}, "name", {
      get() {
        throw new Error("no name");
      },
    });
    for (const thrown of [proxy, nameless]) {
      expect(isAbort(thrown)).toBe(false);
      expect(ContextEngineError.is(thrown, "ENGINE_TIMEOUT")).toBe(false);
    }
  });
});

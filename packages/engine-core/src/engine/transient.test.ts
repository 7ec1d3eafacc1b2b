import { ContextEngineError } from "@clew/plugin-sdk/core";
import { describe, expect, it } from "vitest";
import { isTransient } from "./transient.ts";

const coded = (code: string, more: object = {}) =>
  Object.assign(new Error("it failed"), { code, ...more });

describe("a failure passes by itself", () => {
  it.each([
    ["a busy store", coded("SQLITE_BUSY")],
    ["node:sqlite's own busy", coded("ERR_SQLITE_ERROR", { errcode: 5 })],
    ["a wrapped busy store", new Error("commit failed: database is locked")],
    ["a reset connection", coded("ECONNRESET")],
    ["a fetch that timed out", new DOMException("timed out", "TimeoutError")],
    ["its cause", new TypeError("fetch failed", { cause: coded("UND_ERR_SOCKET") })],
    ["a server that is overloaded", Object.assign(new Error("no"), { status: 503 })],
  ])("%s", (_, error) => {
    expect(isTransient(error)).toBe(true);
  });
});

describe("a failure stays", () => {
  const circle: { cause?: unknown } = {};
  circle.cause = circle;
  it.each([
    ["a bug", new TypeError("x is not a function")],
    ["another SQLite error", coded("ERR_SQLITE_ERROR", { errcode: 11 })],
    ["an engine over its bound", new ContextEngineError("ENGINE_TIMEOUT", "too slow")],
    ["a circle of causes", circle],
    ["nothing", undefined],
  ])("%s", (_, error) => {
    expect(isTransient(error)).toBe(false);
  });
});

import { ContextEngineError } from "@clew/plugin-sdk/core";
import { describe, expect, it } from "vitest";
import { isOfDisk, isTransient } from "./transient.ts";

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

describe("a failure passes when somebody has mended the disk", () => {
  it.each([
    ["a full one", coded("ENOSPC")],
    ["node:sqlite's own full", coded("ERR_SQLITE_ERROR", { errcode: 13 })],
    ["a file that was moved away", coded("ERR_SQLITE_ERROR", { errcode: 1_032 })],
    ["its cause", new ContextEngineError("STORAGE_FAILED", "no", { cause: coded("EROFS") })],
  ])("%s", (_, error) => {
    expect([isOfDisk(error), isTransient(error)]).toEqual([true, false]);
  });

  it.each([
    ["a damaged database", coded("ERR_SQLITE_ERROR", { errcode: 11 })],
    ["a file that is none", coded("ERR_SQLITE_ERROR", { errcode: 26 })],
    ["a bug", new TypeError("x is not a function")],
    ["words alone", "the disk is full"],
  ])("but not %s", (_, error) => {
    expect(isOfDisk(error)).toBe(false);
  });
});

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { describe, expect, it } from "vitest";
import { temporaryHome } from "../testing/home.ts";
import { describeFailure } from "./failure.ts";

describe("what a command threw", () => {
  it("is told with its code when it has one", async () => {
    const error = new ContextEngineError(
      "FILE_NOT_FOUND",
      "There is nothing at x; check the path.",
    );
    expect(describeFailure(error, { home: "/nowhere" })).toBe(
      "There is nothing at x; check the path. [FILE_NOT_FOUND]",
    );
    expect(describeFailure(new DOMException("x", "AbortError"), { home: "/nowhere" })).toBe(
      "Cancelled.",
    );
  });

  it("is a failed storage when the file system refused a path", async () => {
    const error = await readFile("/proc/self").catch((caught: unknown) => caught);
    expect(describeFailure(error, { home: "/nowhere" })).toMatch(
      /^\/proc\/self cannot be used: it is a folder; .* \[STORAGE_FAILED\]$/,
    );
  });

  it("names the file that people know, and is no bug where the disk is full", () => {
    const told = (error: object) =>
      describeFailure(Object.assign(new Error("raw"), error), { home: "/nowhere" });
    const path = "/h/sessions.json.lock.draft-56236cd8-dbf7-4958-9bc1-66c0e03445f9";
    expect(told({ code: "EACCES", path })).toMatch(/^\/h\/sessions\.json cannot be used: perm/);
    expect(told({ code: "ENOSPC", syscall: "write" })).toBe(
      "A file could not be written: the disk is full; free some space and try again. [STORAGE_FAILED]",
    );
  });

  it("shows what was typed without what could steer the terminal", () => {
    const error = new ContextEngineError(
      "SESSION_NOT_FOUND",
      "no \u001b[31mred\u001b]52;c;AA\u0007!",
    );
    expect(describeFailure(error, { home: "/nowhere" })).toBe("no red! [SESSION_NOT_FOUND]");
  });

  it("is a bug otherwise, whose stack is in the log and not on the terminal", async () => {
    const home = await temporaryHome();
    const told = describeFailure(new TypeError("x is not a function\nat all"), { home });
    const log = join(home, "logs/gateway.log");
    expect(told).toBe(
      `Something unexpected happened (TypeError: x is not a function); ${log} says where. This is a bug; please report it. [INTERNAL]`,
    );
    expect(await readFile(log, "utf8")).toContain("failure.test.ts");
    expect(describeFailure("what", { home: join(home, "none") })).toBe(
      "Something unexpected happened (Error: what). This is a bug; please report it. [INTERNAL]",
    );
  });
});

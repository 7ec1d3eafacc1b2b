import { describe, expect, it } from "vitest";
import { storageFailed } from "./storage-error.ts";

const told = (code: string, message = `${code}: raw`) =>
  storageFailed("The file f cannot be written", Object.assign(new Error(message), { code }))
    .message;

describe("a failure of the file system", () => {
  it.each([
    ["ENOSPC", "the disk is full; free some space"],
    ["EDQUOT", "the disk quota is used up; free some space"],
    ["EISDIR", "it is a folder; name a file"],
    ["ENAMETOOLONG", "a name in the path is longer than the system allows; choose a shorter name"],
    ["EROFS", "the file system is read-only; set CLEW_HOME to a folder you may write to"],
    ["EACCES", "permission denied; set CLEW_HOME to a folder you may write to"],
    ["ENOTDIR", "a part of the path is not a folder; set CLEW_HOME to a folder you may write to"],
    ["EIO", "the disk reported an error; check the disk"],
    ["EWEIRD", "EWEIRD: raw; check the disk"],
  ])("%s is told with what to do about it", (code, rest) => {
    expect(told(code)).toBe(`The file f cannot be written: ${rest} and try again.`);
  });

  it.each([
    ["ENOENT", "there is no such folder; name a place that is there and that you may use"],
    ["EACCES", "permission denied; name a place that is there and that you may use"],
    ["ENXIO", "nothing takes what is written there; name a file"],
    ["ENOSPC", "the disk is full; free some space"],
  ])("%s at a place that a person named is not one of the home", (code, rest) => {
    const error = Object.assign(new Error("raw"), { code });
    const { message } = storageFailed("The file f cannot be written", error, "elsewhere");
    expect(message).toBe(`The file f cannot be written: ${rest} and try again.`);
  });

  it("of a file that may not grow says that a limit is the cause", () => {
    expect(told("EFBIG")).toMatch(/may not grow further .*; raise that limit and try again\.$/);
  });
});

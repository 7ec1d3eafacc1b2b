import { describe, expect, it } from "vitest";
import { secretsInAddress, shownAddress } from "./address.ts";

describe("an address", () => {
  it.each([
    ["https://me:pass@word@h.test/v1", "https://h.test/v1"],
    ["https://h.test/v1/a@b?key=secret#x", "https://h.test/v1/a@b"],
    ["me:secret@h.test/v1", "h.test/v1"],
  ])("of %s is shown as %s", (address, shown) => {
    expect(shownAddress(address)).toBe(shown);
  });

  it("tells what in it is secret", () => {
    const secrets = secretsInAddress("https://me:p%40ss@h.test/v1?api-version=1&api-key=k");
    expect(secrets.sort()).toEqual(["k", "me:p%40ss", "me:p@ss", "p%40ss", "p@ss"].sort());
    expect(secretsInAddress("https://h.test/v1?api-version=1")).toEqual([]);
  });
});

// Where compiled code is kept.
import { describe, expect, it } from "vitest";
import { compileCacheFolder } from "./compile-cache.ts";

describe("compiled code", () => {
  it("is kept in the user's own folder for caches", () => {
    expect(compileCacheFolder({}, "/home/ann")).toBe("/home/ann/.cache/clew/compiled");
    expect(compileCacheFolder({ XDG_CACHE_HOME: "" }, "/home/ann")).toBe(
      "/home/ann/.cache/clew/compiled",
    );
    expect(compileCacheFolder({ XDG_CACHE_HOME: "/caches" }, "/home/ann")).toBe(
      "/caches/clew/compiled",
    );
  });
});

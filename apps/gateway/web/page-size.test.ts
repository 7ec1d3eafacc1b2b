import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";

/** The tests' global setup sees to it that it is current. */
const BUILT = join(import.meta.dirname, "../dist/web");

describe("the built page", () => {
  it("takes at most 150 KB, compressed, all of its files together", () => {
    const sizes = readdirSync(BUILT).map(
      (name) => gzipSync(readFileSync(join(BUILT, name))).length,
    );
    expect(sizes.length).toBeGreaterThan(3);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(150_000);
  });

  it("names no other place to load from", () => {
    for (const name of ["index.html", "app.css"])
      expect(readFileSync(join(BUILT, name), "utf8")).not.toMatch(/\b(?:https?:)?\/\/[a-z]/i);
  });
});

import { describe, expect, it } from "vitest";
import { foldersInCircles, readImports } from "./folders.ts";
import { sourceFiles } from "./where.ts";

const circles = (imports: Record<string, string[]>) =>
  foldersInCircles(new Map(Object.entries(imports)));

describe("folders", () => {
  it("no folder and file of a package or app import each other, directly or by a detour", () => {
    const paths = sourceFiles().map(({ path }) => path);
    expect(foldersInCircles(readImports(paths))).toEqual([]);
  });

  it("two that import each other are found although no file does", () => {
    expect(circles({ "src/a/one.ts": ["src/b/one.ts"], "src/b/two.ts": ["src/a/two.ts"] })).toEqual(
      ["src: a, b"],
    );
  });

  it("a folder and a file beside it count, and so do detours", () => {
    expect(
      circles({
        "src/a/deep/one.ts": ["src/b/one.ts"],
        "src/b/two.ts": ["src/c.ts"],
        "src/c.ts": ["src/a/two.ts"],
        "src/d.ts": ["src/a/two.ts"],
      }),
    ).toEqual(["src: a, b, c.ts"]);
  });

  it("a folder and what is above it are no neighbours", () => {
    expect(circles({ "src/a/one.ts": ["src/a/b/one.ts"], "src/a/b/one.ts": ["src/c.ts"] })).toEqual(
      [],
    );
  });
});

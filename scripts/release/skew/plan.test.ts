import { describe, expect, it } from "vitest";
import { lastRelease, mayBreak, nextVersion, plannedBump } from "./plan.ts";

describe("the release before", () => {
  it("is the newest by number, of this package, and finished", () => {
    const tags = ["@clew/a@1.9.0", "@clew/a@1.10.0", "@clew/a@1.10.1-beta.1", "@clew/ab@3.0.0"];
    expect(lastRelease(tags, "@clew/a")).toBe("@clew/a@1.10.0");
    expect(lastRelease(tags, "@clew/b")).toBeUndefined();
  });
});

describe("the release to come", () => {
  const changesets = [
    '---\n"@clew/a": patch\n"@clew/b": minor\n---\n\ntext\n',
    '---\n"@clew/a": minor\n---\n\ntext: major\n',
    "---\n---\n",
  ];

  it("is as large as the largest changeset that names the package", () => {
    expect(["@clew/a", "@clew/b", "@clew/c"].map((name) => plannedBump(changesets, name))).toEqual([
      "minor",
      "minor",
      "none",
    ]);
  });

  it.each([
    ["1.2.3", "none", "1.2.4"],
    ["1.2.3", "patch", "1.2.4"],
    ["1.2.3", "minor", "1.3.0"],
    ["1.2.3", "major", "2.0.0"],
    ["0.0.0", "minor", "0.1.0"],
  ] as const)("%s with a %s is %s", (version, bump, expected) => {
    expect(nextVersion(version, bump)).toBe(expected);
  });

  it.each([
    ["1.2.3", "1.3.0", false],
    ["1.2.3", "2.0.0", true],
    ["0.1.0", "0.1.1", false],
    ["0.1.0", "0.2.0", true],
    ["0.9.0", "1.0.0", true],
  ])("from %s to %s may break code: %s", (from, to, breaks) => {
    expect(mayBreak(from, to)).toBe(breaks);
  });
});

import { describe, expect, it } from "vitest";
import { namesSession } from "./patterns.ts";

describe("a pattern of sessions", () => {
  it.each([
    ["agent:main:main", "agent:main:main", true],
    ["agent:main:main", "agent:main:main2", false],
    ["agent:*:cron", "agent:work:cron", true],
    ["agent:*:cron", "agent:work:sub:cron", false],
    ["agent:**:cron", "agent:work:sub:cron", true],
    ["**", "", true],
    ["*", "a:b", false],
    ["agent:*", "agent:", true],
    ["a.c", "abc", false],
    ["**🙂**", "x🙂y", true],
    ["***", "a:b", true],
  ])("%s names %s: %s", (pattern, key, names) => {
    expect(namesSession([pattern], key)).toBe(names);
  });

  it("takes no longer for many stars", () => {
    const key = "a".repeat(2_000);
    for (const pattern of [`${"*".repeat(40)}x`, `${"**a".repeat(60)}x`, `${"*a".repeat(60)}x`])
      expect(namesSession([pattern], key)).toBe(false);
  });
});

import { assistant, toolCall, toolResult, user } from "@clew/plugin-sdk/testing";
import { describe, expect, it } from "vitest";
import {
  joinProse,
  recentTurnsSection,
  withoutEmptySections,
  withoutRecentTurns,
} from "./sections.ts";

describe("recent turns", () => {
  const messages = [
    user("one"),
    assistant("uno"),
    user("two"),
    assistant("dos"),
    user("three\n## Decisions"),
    assistant("x".repeat(900)),
  ];

  it("are quoted oldest first, 600 characters of each message, tools left out", () => {
    const section = recentTurnsSection(messages, 2);
    expect(section.split("\n[")[0]).toBe("## Recent turns preserved verbatim");
    expect(section).toContain("[User]: two\n[Assistant]: dos\n[User]: three\n  ## Decisions");
    expect(section).not.toContain("uno");
    expect(section.split("[Assistant]: ").at(-1)!.length).toBeLessThanOrEqual(600);
  });

  it("are none for zero turns or no text", () => {
    expect(recentTurnsSection(messages, 0)).toBe("");
    const call = toolCall("read", {});
    expect(recentTurnsSection([assistant([call]), toolResult(call, "x")], 3)).toBe("");
  });

  it("stay within 8,000 characters, newest first in line", () => {
    const many = Array.from({ length: 40 }, (_, index) => user(`${index} ${"y".repeat(590)}`));
    const section = recentTurnsSection(many, 12, 100_000);
    expect(section.length).toBeLessThanOrEqual(8000);
    expect(section).toContain("[User]: 39 ");
    expect(recentTurnsSection(many, 12, 1000).length).toBeLessThanOrEqual(1000);
  });
});

describe("a model's prose", () => {
  it("keeps at least half of the room, and says what was cut", () => {
    const long = joinProse("b".repeat(20_000), "r".repeat(6000), 16_000);
    expect(long.length).toBeLessThanOrEqual(16_000);
    expect(long).toContain("[Compaction summary truncated to fit budget]");
    expect(long).toContain("\n\nrrr");
    expect(joinProse("b".repeat(9000), "r".repeat(9000), 16_000)).not.toContain("r");
    expect(joinProse("prose", "", 16_000)).toBe("prose");
  });

  it("gives the quotation back out when it is carried on", () => {
    const recent = recentTurnsSection([user("one"), assistant("uno")], 1);
    expect(withoutRecentTurns(joinProse("## Decisions\n- d", recent, 16_000))).toBe(
      "## Decisions\n- d",
    );
    expect(withoutRecentTurns("text of another program")).toBe("text of another program");
  });

  it("loses the headings under which it has nothing to say", () => {
    const prose =
      "## Goal\nMend it.\n\n## Progress\n**Done**\n- (none)\n\n### Blocked\n(none)\n\n## Decisions\n- (none)\n## Open TODOs\n\n## Pending user asks\n- none of the tests pass";
    expect(withoutEmptySections(prose)).toBe(
      "## Goal\nMend it.\n\n## Pending user asks\n- none of the tests pass",
    );
    expect(withoutEmptySections("plain prose")).toBe("plain prose");
  });
});

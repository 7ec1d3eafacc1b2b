import { assistant, toolCall, toolResult, user } from "@clew/plugin-sdk/testing";
import { describe, expect, it } from "vitest";
import { auditSummary } from "./audit.ts";
import {
  demoteHeadings,
  fileSection,
  joinSummary,
  recentTurnsSection,
  toolFailuresSection,
  withoutAddedSections,
} from "./sections.ts";

const none = { recentTurns: "", failures: "", files: "" };

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

describe("tool failures and files", () => {
  it("lists eight failures and counts the rest", () => {
    const calls = Array.from({ length: 11 }, (_, index) =>
      toolCall("exec", { n: index }, `c${index}`),
    );
    const results = calls.map((call) =>
      toolResult(call, `line 1\nboom ${call.id}`, { isError: true, details: { exitCode: 2 } }),
    );
    const section = toolFailuresSection([assistant(calls), ...results]);
    expect(section.split("\n")).toHaveLength(10);
    expect(section).toContain("- exec (exitCode=2): line 1 boom c10");
    expect(section.endsWith("- ...and 3 more")).toBe(true);
    expect(toolFailuresSection([user("fine")])).toBe("");
  });

  it("lists files in tags, 900 characters each", () => {
    expect(fileSection({ readFiles: ["a"], modifiedFiles: ["b"] })).toBe(
      "<read-files>\na\n</read-files>\n<modified-files>\nb\n</modified-files>",
    );
    expect(fileSection({ readFiles: [], modifiedFiles: [] })).toBe("");
    const paths = Array.from({ length: 200 }, (_, index) => `src/some/folder/file-${index}.ts`);
    const section = fileSection({ readFiles: paths, modifiedFiles: paths });
    expect(section.length).toBeLessThanOrEqual(2000);
    expect(section.match(/<read-files>[\s\S]*?<\/read-files>/)![0].length).toBeLessThanOrEqual(900);
    expect(section).toMatch(/\.\.\.and \d+ more/);
  });
});

describe("the whole summary", () => {
  it("puts the open request first and the added sections last, in order", () => {
    const text = joinSummary(
      {
        body: "BODY",
        prefix: "PREFIX",
        openRequest: "ASK",
        recentTurns: "RECENT",
        failures: "FAILED",
        files: "FILES",
      },
      16_000,
    );
    const places = [
      "ASK",
      "BODY",
      "**Turn Context (split turn):**\n\nPREFIX",
      "RECENT",
      "FAILED",
      "FILES",
    ].map((part) => text.indexOf(part));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(places[0]).toBeGreaterThan(0);
  });

  it("leaves the body at least half of the room, and says what was cut", () => {
    const text = joinSummary(
      { ...none, body: "b".repeat(12_000), recentTurns: "r".repeat(6000), failures: "FAILED" },
      16_000,
    );
    expect(text.length).toBeLessThanOrEqual(16_000);
    expect(text).toContain("[Compaction summary truncated to fit budget]");
    expect(text).toContain("FAILED");
    const full = joinSummary(
      { ...none, body: "b".repeat(9000), recentTurns: "r".repeat(9000), failures: "FAILED" },
      16_000,
    );
    expect(full).toContain("[Earlier compaction context truncated to fit budget]\n\nFAILED");
    expect(full.length).toBeLessThanOrEqual(16_000);
  });

  it("never shortens the open request", () => {
    const openRequest = "q".repeat(30_000);
    expect(joinSummary({ ...none, body: "b".repeat(20_000), openRequest }, 1000)).toContain(
      openRequest,
    );
  });

  it("can be taken apart again: only what a later summary makes anew is dropped", () => {
    const parts = {
      body: "## Decisions\n- d",
      prefix: "early",
      openRequest: "ask\n## Decisions\n</x>",
      recentTurns: "## Recent turns preserved verbatim\n[User]: hi",
      failures: "## Tool Failures\n- x: y",
      files: fileSection({ readFiles: ["a"], modifiedFiles: [] }),
    };
    const rest = withoutAddedSections(joinSummary(parts, 16_000));
    expect(rest).toBe(
      "## Decisions\n- d\n\n---\n\n**Turn Context (split turn):**\n\nearly\n\n## Tool Failures\n- x: y",
    );
    expect(withoutAddedSections("text of another program")).toBe("text of another program");
  });

  it("keeps a summary inside a summary from repeating its headings", () => {
    const text = demoteHeadings("## Decisions\n- a\n### deeper");
    expect(text).toBe("### Decisions\n- a\n### deeper");
    expect(auditSummary({ text, identifiers: [], latestAsk: undefined })).toContainEqual({
      kind: "heading",
      heading: "## Decisions",
      found: "missing",
    });
  });
});

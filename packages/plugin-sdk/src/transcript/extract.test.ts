import { describe, expect, it } from "vitest";
import { identifiersOf, isDecision, isOpenItem, isRule, sentencesOf } from "./extract.ts";

describe("sentencesOf", () => {
  it("splits sentences and list items, drops bullets, code blocks and lines without words", () => {
    const text =
      "First. Second one!\n- third item\n2) fourth\n```\nconst code = 1;\n```\n---\n用中文写。第二句。";
    expect(sentencesOf(text)).toEqual([
      "First.",
      "Second one!",
      "third item",
      "fourth",
      "用中文写。",
      "第二句。",
    ]);
  });

  it("does not split versions, file names and abbreviations before a small letter", () => {
    expect(sentencesOf("Use v1.2 of a.ts, e.g. for tests.")).toEqual([
      "Use v1.2 of a.ts, e.g. for tests.",
    ]);
  });
});

describe("identifiersOf", () => {
  it("finds addresses, mails, ids, paths, files, tickets, codes, hashes, names in code and versions, as they stand", () => {
    const text =
      "See https://example.com/a?b=1, mail bo.li@example.org; run 3f2504e0-4f89-41d3-9a0c-0305e82c3301 in /etc/app/conf.d with src/main.ts for ABC-12 and #77, code EUJUY6, commit 1a2b3c4d, user_id and tokenBudget on v1.2.3.";
    expect(identifiersOf(text)).toEqual([
      "https://example.com/a?b=1",
      "bo.li@example.org",
      "3f2504e0-4f89-41d3-9a0c-0305e82c3301",
      "/etc/app/conf.d",
      "src/main.ts",
      "ABC-12",
      "#77",
      "EUJUY6",
      "1a2b3c4d",
      "user_id",
      "tokenBudget",
      "v1.2.3",
    ]);
  });

  it("finds none in plain prose and each once", () => {
    expect(identifiersOf("The quick brown fox jumps over the lazy dog, twice.")).toEqual([]);
    expect(identifiersOf("a.ts and a.ts")).toEqual(["a.ts"]);
  });

  it("takes neither what stands beyond the first 50,000 characters nor what is too long for a name", () => {
    expect(identifiersOf(`${"x ".repeat(25_000)} late_name`)).toEqual([]);
    expect(identifiersOf(`${"a_".repeat(150)} my_name`)).toEqual(["my_name"]);
  });
});

describe("cues", () => {
  it.each([
    [isDecision, "We decided to use SQLite.", "The sky is blue."],
    [isDecision, "Let's go with option B.", "Let's see."],
    [isRule, "Never delete the backup.", "The backup is large."],
    [isOpenItem, "TODO: write the docs", "The docs are written."],
    [isOpenItem, "The test still fails.", "The test passes."],
  ])("%o holds for %j and not for %j", (cue, yes, no) => {
    expect([cue(yes), cue(no)]).toEqual([true, false]);
  });
});

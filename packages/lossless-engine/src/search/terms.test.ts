import { describe, expect, it } from "vitest";
import { newNamesIn, writtenSmall } from "./names.ts";
import { termsOf } from "./terms.ts";
import { timesIn } from "./times.ts";

const NOW = Date.parse("2026-03-09T12:00:00Z");
const words = (query: string) => termsOf(query, NOW).map(({ word }) => word);

describe("the terms of a query", () => {
  it("leave out the words of asking, unless there are no others", () => {
    expect(words("What did Mara's sister tell you about the move?")).toEqual([
      ...["mara", "sister", "tell", "told", "move", "sister tell"],
    ]);
    expect(words("who is it")).toEqual(["who", "is", "it", "who is", "is it"]);
  });

  it("hold a name whole and in its parts, and two words that stand side by side", () => {
    const terms = termsOf("deploy-key rotation", NOW);
    expect(terms.map(({ word, kind, isPart }) => [word, kind, isPart])).toEqual([
      ["deploy-key", "name", false],
      ["deploy", "word", true],
      ["key", "word", true],
      ["rotation", "word", false],
      ["deploy-key rotation", "name", false],
    ]);
  });
  it("hold a query that is one name with its signs, too", () => {
    for (const name of ["./internal/syncer/", "/git-receive-pack", ".claude/projects", "~/notes/"])
      expect(words(name).at(-1)).toBe(name);
    for (const query of ["Where is ./src/ now", "really?", "(push)", "..."])
      expect(words(query)).not.toContain(query.toLowerCase());
  });
});

describe("the times of a query", () => {
  const days = (query: string) =>
    timesIn(query, NOW).map(({ span: { from, to } }) =>
      [from, to].map((ms) => new Date(ms).toISOString().slice(0, 10)).join(" "),
    );

  it("are days and months as people and programs write them", () => {
    expect(days("on 2026-02-03")).toEqual(["2026-02-03 2026-02-04"]);
    expect(days("in 2025-12")).toEqual(["2025-12-01 2026-01-01"]);
    expect(days("on 3 february, 2026 and march 4th")).toEqual([
      ...["2026-02-03 2026-02-04", "2026-03-04 2026-03-05"],
    ]);
    expect(days("during january 2024")).toEqual(["2024-01-01 2024-02-01"]);
  });

  it("without a year are the newest that have begun, and a word that is also a month is none", () => {
    expect(days("in march")).toEqual(["2026-03-01 2026-04-01"]);
    expect(days("in november")).toEqual(["2025-11-01 2025-12-01"]);
    expect(days("may i see it")).toEqual([]);
    expect(days("2026-13-40, 99 march")).toEqual([]);
  });
});

describe("new names in a passage", () => {
  const namesOf = (text: string, query: string, isFirst: boolean) =>
    newNamesIn(text, termsOf(query, NOW))
      .filter((one) => one.isFirst === isFirst)
      .map(({ name }) => name);

  it("are capitals within a sentence and what no plain word looks like, but for the query's", () => {
    const text = "Paula looks after Falcon-100 and src/a.ts. Today Nora came, as did Quist.";
    expect(namesOf(text, "Quist", false)).toEqual(["falcon-100", "src/a.ts", "nora"]);
  });

  it("may begin a sentence, where they are no word of every question", () => {
    const text = "Paula came. Paula and Nora left. The cat stayed. nora: I know. Nora did.";
    expect(namesOf(text, "cat", true)).toEqual(["paula"]);
    expect(namesOf(text, "cat", false)).toEqual(["nora"]);
  });

  it("are none where they are also written small", () => {
    const small = writtenSmall(["Blame him.", "Whom do you blame? Paula, a friend of mine."]);
    expect(["blame", "paula"].filter((word) => small.has(word))).toEqual(["blame"]);
  });
});

import { stepsAtOnce } from "@clew/plugin-sdk/host";
import { assistant, user } from "@clew/plugin-sdk/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { setUpRecall } from "../testing/recall.ts";
import { composed, folded, placeInText, spelledInSteps } from "./spelling.ts";

const numbersIn = (page: string) =>
  [...page.matchAll(/^#(\d+) ·/gm), ...page.matchAll(/<record n="(\d+)"/g)]
    .map(([, seq]) => Number(seq))
    .sort((a, b) => a - b);

describe("a search", () => {
  it("finds a word however its accents are written, in every order and as a pattern", async () => {
    const { tell, call } = setUpRecall();
    await tell([
      user("Open Re\u0301sume\u0301.pdf in Übersicht"),
      user("the m\u00e9thode of Z\u00fcrichblick"),
      user("\u1112\u1161\u11ab\u1100\u116e\u11a8 data"),
      assistant("Noted."),
    ]);
    const found: Record<string, number[]> = {};
    for (const pattern of [
      "Résumé.pdf",
      "Re\u0301sume\u0301.pdf",
      "U\u0308bersicht",
      "me\u0301thode",
      "Zu\u0308richblick",
      "한국",
    ])
      for (const how of [{}, { sort: "relevance" }, { mode: "regex" }])
        found[`${composed(pattern)} ${JSON.stringify(how)}`] = numbersIn(
          await call("lcm_grep", { pattern, ...how }),
        );
    expect(Object.entries(found).filter(([, seqs]) => seqs.length !== 1)).toEqual([]);
    for (const pattern of ["Muller", "methode", "zurichblick", "resume"]) {
      const expected = pattern === "Muller" ? [] : pattern === "resume" ? [1] : [2];
      expect(numbersIn(await call("lcm_grep", { pattern }))).toEqual(expected);
      expect(numbersIn(await call("lcm_grep", { pattern, sort: "relevance" }))).toEqual(expected);
    }
  });

  it("finds ß as ss and ё as е, and the other way", async () => {
    const { tell, call } = setUpRecall();
    await tell([
      user("Die Straße ist gesperrt."),
      user("Die STRASSE ist offen."),
      user("Где ёлка? Ещё нет."),
      user("Елка еще там."),
      user("Fußballstraße, GROẞE Masse"),
      assistant("Noted."),
    ]);
    const expected: Record<string, number[]> = {
      ...{ strasse: [1, 2], Straße: [1, 2], STRASSE: [1, 2] },
      ...{ елка: [3, 4], Ёлка: [3, 4], ещё: [3, 4], еще: [3, 4], grosse: [5], große: [5] },
    };
    for (const [pattern, seqs] of Object.entries(expected))
      for (const how of [{}, { sort: "relevance" }])
        expect([pattern, numbersIn(await call("lcm_grep", { pattern, ...how }))]).toEqual([
          pattern,
          seqs,
        ]);
    const found = await call("lcm_grep", { pattern: "offen strasse" });
    expect(found).toContain("> Die STRASSE ist offen.");
  });

  it("finds a dotted capital I in either order", async () => {
    const { tell, call } = setUpRecall();
    await tell([user("Fly to \u0130stanbul."), assistant("Booked.")]);
    for (const pattern of ["\u0130STANBUL", "\u0130stanbul", "istanbul"])
      for (const how of [{}, { sort: "relevance" }])
        expect(numbersIn(await call("lcm_grep", { pattern, ...how }))).toEqual([1]);
    const prompt = "When do I fly to \u0130STANBUL?";
    expect(await call("lcm_expand_query", { prompt })).toContain("Fly to");
    expect(await call("lcm_expand_query", { prompt, query: "*" })).toContain("Fly to");
  });

  it("quotes a text as it is stored, at the place that was found", async () => {
    const { tell, call } = setUpRecall();
    const decomposed = "e\u0301".repeat(5_000);
    await tell([user(`${decomposed} then the needle, then ${decomposed}`)]);
    const found = await call("lcm_grep", { pattern: "needle" });
    expect(found).toContain("at character 10010 of 20023: …");
    expect(found).toContain("e\u0301 then the needle, then e\u0301");
  });

  it("finds a word of a long text behind any number of longer words that hold it", async () => {
    const { tell, call } = setUpRecall();
    await tell([user(`${"concatenate ".repeat(15_000)} the na\u00efve cat sat`), user("thanks")]);
    for (const pattern of ["cat", "naive", "cat sat"])
      expect(numbersIn(await call("lcm_grep", { pattern }))).toEqual([1]);
    expect(numbersIn(await call("lcm_grep", { pattern: "enate" }))).toEqual([]);
  });

  it("finds signs that no index of words knows", async () => {
    const { tell, call } = setUpRecall();
    await tell([user("a ≤ b, c → d"), user("🇩🇪 first"), user("C++ and C"), user("done ✓")]);
    const found: Record<string, number[]> = { "≤": [1], "→": [1], "🇩🇪": [2], "++": [3], "✓": [4] };
    for (const [pattern, seqs] of Object.entries(found)) {
      expect(numbersIn(await call("lcm_grep", { pattern }))).toEqual(seqs);
      expect(numbersIn(await call("lcm_grep", { pattern, sort: "relevance" }))).toEqual(seqs);
    }
    expect(await call("lcm_grep", { pattern: "∑" })).toMatch(/^Nothing found\. All 4 messages/);
  });

  it("takes arguments that are filled with nothing for left out", async () => {
    const { tell, call } = setUpRecall();
    await tell([user("The port of svc10 is 5432")]);
    expect(numbersIn(await call("lcm_grep", { pattern: "svc10", fileIds: [], since: "" }))).toEqual(
      [1],
    );
    const asked = { prompt: "Which port has svc10?", query: "" };
    expect(await call("lcm_expand_query", asked)).toContain("5432");
    expect(await call("lcm_expand_query", { ...asked, tokenCap: 1 })).toBe(
      "What is stored of this takes more than the 1 tokens that tokenCap leaves it; ask with a larger one.",
    );
  });

  it("says which argument goes with which order instead of showing the same page again", async () => {
    const { tell, call } = setUpRecall();
    await tell(["red one", "red two", "red three"].map((text) => user(text)));
    expect(await call("lcm_grep", { pattern: "red", skip: 1 })).toMatch(/^skip goes with sort/);
    const older = { pattern: "red", sort: "relevance", olderThan: 2 };
    expect(numbersIn(await call("lcm_grep", older))).toEqual([1]);
    expect(await call("lcm_describe", { id: "2" })).toContain("red two");
    expect(await call("lcm_describe", { id: "#3-#2" })).toMatch(/red two[\s\S]*red three/);
    expect(await call("lcm_describe", { id: "#1,#3" })).toMatch(/^One message or range at a time/);
    expect(await call("lcm_describe", { id: "#1", turn: 1 })).toMatch(/^turn goes with the path/);
  });
});

const LETTERS = [
  "a",
  "é",
  "e\u0301",
  "ü",
  "한",
  "\u1112\u1161\u11ab",
  "ς",
  "İ",
  "क़",
  "👍",
  " ",
  "x\u0304",
  "ß",
  "Ё",
];
const letters = fc.array(fc.constantFrom(...LETTERS), { maxLength: 40 });

describe("a spelling", () => {
  it("is the same whichever way a text comes to it, and in steps", () => {
    fc.assert(
      fc.property(letters, (parts) => {
        const text = parts.join("");
        expect(folded(text.normalize("NFD"))).toBe(folded(text.normalize("NFC")));
        expect(composed(composed(text))).toBe(composed(text));
      }),
    );
    const long = LETTERS.join("").repeat(9_000);
    const steps = spelledInSteps(long, folded);
    let [step, turns] = [steps.next(), 0];
    for (; !step.done; turns++) step = steps.next();
    expect(step.value).toBe(folded(long));
    expect(turns).toBeGreaterThan(1);
  });

  it("leads back to the place in the text", () => {
    fc.assert(
      fc.property(letters, letters, (before, behind) => {
        const text = `${before.join("")}|needle|${behind.join("")}`;
        for (const spelling of [composed, folded]) {
          const spelled = spelling(text);
          const start = spelled.indexOf("|needle|");
          const place = { spelling, spelled, match: { start, end: start + 8 } };
          const { start: from, end: to } = stepsAtOnce(placeInText(text, place));
          expect(text.slice(from, to)).toBe("|needle|");
        }
      }),
    );
  });
});

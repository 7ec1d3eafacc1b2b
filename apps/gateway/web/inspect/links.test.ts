import { describe, expect, it } from "vitest";
import { isLinked, NO_LINK } from "./links.ts";

describe("rows of the three columns", () => {
  it("belong together by their entry or their summary, and never by having none", () => {
    const entry = { entryId: "e1", summaryId: "C2" };
    expect(isLinked(entry, { entryId: "e1", summaryId: null })).toBe(true);
    expect(isLinked(entry, { entryId: null, summaryId: "C2" })).toBe(true);
    expect(isLinked(entry, { entryId: "e2", summaryId: null })).toBe(false);
    expect(isLinked(NO_LINK, NO_LINK)).toBe(false);
  });
});

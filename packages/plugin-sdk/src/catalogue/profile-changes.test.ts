import { describe, expect, it } from "vitest";
import type { ProfileChanges } from "../contract/profile.ts";
import { ProfileChangesSchema } from "./profile-changes.ts";

describe("what a configuration may say of a model", () => {
  it("is any part of its profile", () => {
    const changes = {
      reasoning: { replay: "keep", reads: { providers: [], models: "^a", sameAccount: false } },
      images: { maxSide: null },
    };
    const parsed: ProfileChanges = ProfileChangesSchema.parse(changes);
    expect(parsed).toEqual(changes);
  });

  it("holds patterns that compile, and numbers that count", () => {
    const paths = [{ calls: { ids: "(" } }, { images: { maxBytes: -1 } }].map(
      (changes) => ProfileChangesSchema.safeParse(changes).error?.issues[0]?.path,
    );
    expect(paths).toEqual([
      ["calls", "ids"],
      ["images", "maxBytes"],
    ]);
  });
});

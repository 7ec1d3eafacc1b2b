import { describe, expect, it } from "vitest";
import { publishScript, reasonNotToPublish } from "./publish.ts";

const manifest = { repository: { url: "git+https://git.clew.test/ann/clew.git" } };

describe("publishing", () => {
  it("stops in one sentence while nobody has said where the code lives", () => {
    const reason = reasonNotToPublish({ manifest: {}, changesets: [] });
    expect(reason).toMatch(
      /^Nothing can be published: "repository.url" in the root package.json[^\n]*\.$/,
    );
  });

  it("stops while changesets wait for their versions", () => {
    expect(reasonNotToPublish({ manifest, changesets: ["a.md", "b.md"] })).toBe(
      'Nothing can be published: 2 changesets wait for "release:version".',
    );
  });

  it("goes on when the place is known and every version is set", () => {
    expect(reasonNotToPublish({ manifest, changesets: [] })).toBeUndefined();
  });

  it("by hand is the step of the release workflow", () => {
    expect(publishScript(process.cwd())).toContain("npm publish");
  });
});

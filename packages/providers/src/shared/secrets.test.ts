import { describe, expect, it } from "vitest";
import { secretsOf, withoutSecrets } from "./secrets.ts";

const KEY = "Key+of/a-person_1234";

describe("a text that a server sent", () => {
  const base64 = (text: string) => Buffer.from(text).toString("base64");
  it.each([
    ["plain", KEY],
    ["in upper case", KEY.toUpperCase()],
    ["in base64", base64(KEY)],
    ["in base64 behind a name", base64(`me:${KEY}`)],
    ["in base64 behind a longer name", base64(`user:${KEY}:`)],
    ["in the base64 of addresses", Buffer.from(`a:${KEY}`).toString("base64url")],
    ["as an address writes it", encodeURIComponent(KEY)],
  ])("does not hold a key %s", (_how, written) => {
    const said = withoutSecrets(`Bad key <${written}> here.`, [KEY]);
    expect(said).toContain("[key]");
    expect(said).toContain("Bad key <");
    for (let at = 0; at + 10 <= written.length; at++)
      expect(said).not.toContain(written.slice(at, at + 10));
  });

  it("does not hold a key whose base64 has other signs in addresses", () => {
    const key = "who>>is~~there??me>>and~~us";
    const written = Buffer.from(key).toString("base64url");
    expect(written).toMatch(/-.*_|_.*-/);
    expect(withoutSecrets(`Bad key <${written}> here.`, [key])).toBe("Bad key <[key]> here.");
  });

  it("keeps words that are too short to be a key", () => {
    expect(withoutSecrets("abc is a word", ["abc", ""])).toBe("abc is a word");
  });
});

it.each([
  ["authorization", "Bearer token-of-mine", "token-of-mine"],
  ["x-api-key", "key-of-mine", "key-of-mine"],
  ["x-goog-api-key", "AIzaKeyOfMine", "AIzaKeyOfMine"],
  ["x-amz-security-token", "session-of-mine", "session-of-mine"],
  ["api-key", "azure-of-mine", "azure-of-mine"],
])("the header %s holds a secret", (name, value, secret) => {
  expect(secretsOf({ [name]: value })).toContain(secret);
  expect(secretsOf({ "content-type": "application/json", accept: "*/*" })).toEqual([]);
});

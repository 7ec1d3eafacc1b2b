import { describe, expect, it } from "vitest";
import { looksLikeKey, shownWord } from "./looks-like-key.ts";

describe("a word", () => {
  it.each([
    "sk-proj-Abcdefghijklmnop1234567890ABCDEFGHijklmn",
    "sk-right",
    "sk-ant-api03-abcDEF_123-xyz",
    "gsk_1a2B3c4D5e6F7g8H",
    "AIzaSyA1b2C3d4E5f6G7h8I9j0",
    "AKIAIOSFODNN7EXAMPLE",
    "9f8e7d6c5b4a39281706f5e4d3c2b1a0",
    "3f2a8c1e-1b2c-4d5e-8f90-a1b2c3d4e5f6",
    "abc1/DEF2+ghi3/JKL4mno5PQR6stu7VWX8yz==",
  ])("%s looks like a key, and is not shown whole", (word) => {
    expect(looksLikeKey(word)).toBe(true);
    expect(shownWord(word)).toBe(`${word.slice(0, 3)}…`);
  });

  it.each([
    ...["OWN_API_KEY", "MY_COMPANY_KEY_2024", "my_long_openai_key_number_2", "key1"],
    ...[
      "/usr/local/bin/print-key-2",
      "/home/house/secrets/openai2024/print",
      "~/bin/key2024-printer",
      "print-my-key",
      "hf_token",
      "op",
    ],
  ])("%s is a name", (word) => {
    expect(looksLikeKey(word)).toBe(false);
    expect(shownWord(word)).toBe(word);
  });
});

// What is to be forgotten is found by a text, or by a pattern that cannot hang.

import type { AgentMessage } from "@clew/plugin-sdk/core";
import { assistant, toolCall } from "@clew/plugin-sdk/testing";
import { describe, expect, it } from "vitest";
import { isMatched, isMessageMatched, textPattern } from "./matcher.ts";

describe("a pattern of what is to be forgotten", () => {
  it("is found whatever the case, in texts of any depth, however letters are spelled", () => {
    const pattern = textPattern("caf\u00e9 \\d{4}");
    expect(isMatched({ content: [{ text: "x" }, { text: "At CAFE\u0301 4711." }] }, pattern)).toBe(
      true,
    );
    expect(isMatched({ content: [{ text: "At café." }, "4711"] }, pattern)).toBe(false);
    expect(isMatched("first\ncafé 1234", textPattern("^café 1234$"))).toBe(true);
  });

  it("that would take other searches for ever takes this one a look at each character", () => {
    const text = "a".repeat(200_000);
    for (const source of ["(a+)+b", "(a|aa)+$b", "(a*)*b", "(.*)*(.*)*b"])
      expect([source, isMatched(text, textPattern(source))]).toEqual([source, false]);
  });

  it("that is not offered is refused in one sentence", () => {
    const refusal = (source: string) => {
      try {
        textPattern(source);
        return "";
      } catch (error) {
        return (error as Error).message;
      }
    };
    expect(refusal("(")).toBe(
      "This pattern cannot be searched for: a ( is not closed; mend it, or look for plain words instead.",
    );
    expect(refusal("(a)\\1")).toContain("references to groups are not offered");
    expect(refusal("(?=a)")).toContain("only (?: is offered");
    expect(refusal("x*")).toContain("it is found in every text");
    expect(refusal("")).toContain("is found in every text");
    expect(refusal("a{1000}{1000}")).toContain("cannot be searched for");
  });

  it("is found where a message holds it as JSON, whatever is escaped there", () => {
    const secret = 'Zanzibärquux "4711"\nis it';
    const json = JSON.stringify({ secret });
    const ascii = json.replace("ä", "\\u00e4");
    for (const text of [secret, json, ascii, JSON.stringify({ ascii })]) {
      const message = { role: "user", content: `They say: ${text}` } as AgentMessage;
      expect([text, isMessageMatched(message, secret)]).toEqual([text, true]);
      const pattern = textPattern('zanzib.rquux "\\d{4}"\\n');
      expect([text, isMessageMatched(message, pattern)]).toEqual([text, true]);
    }
  });

  it("is found in a message by all that a search finds: numbers, keys and names of arguments", () => {
    const given = {
      card: 4111111111111111,
      headers: { "sk-live-ABCDEF": true },
      password: "hunter2",
    };
    const message = assistant([toolCall("pay", given, "c1")]);
    for (const words of ["4111111111111111", "sk-live-ABCDEF", "password: hunter2"]) {
      expect(isMessageMatched(message, words), words).toBe(true);
      expect(isMessageMatched(message, textPattern(words)), words).toBe(true);
    }
    expect(isMessageMatched(message, "timestamp")).toBe(false);
  });

  it("is not found in what says what kind of message it is, but in who sent it", () => {
    const message = {
      ...assistant([{ type: "thinking", thinking: "hm" }, toolCall("pay", {}, "c1")]),
      ...{ api: "openai-responses", provider: "openai", model: "small" },
      __openclaw: { id: "entry1", kind: "cron", senderName: "Ada Lovelace" },
    } as AgentMessage;
    for (const words of ["assistant", "openai", "small", "toolUse", "thinking", "toolCall", "cron"])
      expect([words, isMessageMatched(message, words)]).toEqual([words, false]);
    for (const words of ["Lovelace", "c1", "pay", "hm"])
      expect([words, isMessageMatched(message, words)]).toEqual([words, true]);
  });
});

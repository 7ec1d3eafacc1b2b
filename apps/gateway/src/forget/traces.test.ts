import { textPattern } from "@clew/lossless-engine/store";
import { assistant, toolCall, toolResult, user } from "@clew/plugin-sdk/testing";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { describe, expect, it } from "vitest";
import { tracesOf, wordsIn } from "./traces.ts";

const place = { id: "e1", parentId: null, timestamp: "2026-01-01T00:00:00.000Z" };
const entryOf = (message: object) =>
  ({ type: "message", ...place, message }) as unknown as TranscriptEntry;

describe("what an entry says", () => {
  it("is not what it, its run, its account or its model is known by", () => {
    const asked = {
      ...user("The code is 4711."),
      idempotencyKey: "delivery-5a1c7f0e-0000-4000-8000-000000000001",
      __openclaw: { id: "e1", runId: "run-5a1c7f0e-0000-4000-8000-000000000002" },
    };
    expect(wordsIn(entryOf(asked))).toEqual(["The code is 4711."]);
    const answered = {
      ...assistant([
        { type: "thinking", thinking: "I note it.", thinkingSignature: "c2lnbmF0dXJlIG9mIGl0" },
        { type: "text", text: "Noted.", textSignature: "msg_0123456789abcdef0123456789" },
        toolCall("save", { code: { words: ["4711"] } }, "call_0123456789abcdef0123"),
      ]),
      ...{ provider: "openai", model: "a-model-of-a-long-name", account: "0123456789abcdef0123" },
      ...{ api: "openai-responses", responseId: "resp_0123456789abcdef0123456789" },
    };
    expect(wordsIn(entryOf(answered))).toEqual(["I note it.", "Noted.", "4711"]);
    const result = {
      ...toolResult({ id: "call_0123456789abcdef0123", name: "save" }, "kept"),
      details: { childSessionKey: "agent:main:subagent:0123456789ab", says: "kept it well" },
    };
    expect(wordsIn(entryOf(result))).toEqual(["kept", "kept it well"]);
  });

  it("is what summaries, labels and plugins say", () => {
    const summary = {
      type: "compaction",
      ...place,
      summary: "It was 4711.",
      firstKeptEntryId: "e0",
    };
    expect(wordsIn(summary as unknown as TranscriptEntry)).toEqual(["It was 4711."]);
    const custom = {
      type: "custom",
      ...place,
      customType: "x",
      data: { run: "0123", said: "a b" },
    };
    expect(wordsIn(custom as unknown as TranscriptEntry)).toEqual(["a b"]);
  });
});

describe("traces", () => {
  it("are found as they stand, in JSON, in JSON of JSON, and where their end is left out", () => {
    const text = `He said "the code\tis 4711" and ${"went on and on ".repeat(20)}`;
    const holds = tracesOf([text], null);
    const json = JSON.stringify({ text });
    expect([text, json, JSON.stringify({ json })].map(holds)).toEqual([true, true, true]);
    expect(holds(`- ${text.replaceAll(/\s+/g, " ").slice(0, 120)}…`)).toBe(true);
    expect(holds("He said something else, and went on and on.")).toBe(false);
    expect(tracesOf(["two\nshort\nlines of it\nhere"], null)("- two short lines of it here")).toBe(
      true,
    );
  });

  it("of short words are found as they stand, and of a few signs or of the host not at all", () => {
    const telling = tracesOf(["pw: hunter2XYZ"], null);
    const quotation = { content: "Echo: pw: hunter2XYZ" };
    expect([telling(JSON.stringify(quotation)), telling("pw: hunter2XYZW")]).toEqual([true, false]);
    const whole = tracesOf(["swordfish", "4711", "ok", "My\nsecret word"], null);
    const found = ["swordfish", "4711", "secret word"].map((said) => JSON.stringify({ said }));
    expect(found.map(whole)).toEqual([true, true, true]);
    const others = ["a swordfish swims", "by 4711", "ok", "a secret word"];
    expect(others.map((said) => whole(JSON.stringify({ said, tokens: 4711 })))).toEqual(
      others.map(() => false),
    );
    const host = [
      "[Inter-session message] sourceTool=x isUser=false",
      "5 found, newest first. All",
    ];
    expect(host.map(tracesOf(host, null))).toEqual([false, false]);
  });

  it("of a text and of a pattern are found whatever is escaped", () => {
    const said = JSON.stringify({ json: JSON.stringify({ said: 'Zanzibar "4711"\nis it' }) });
    expect(tracesOf([], 'zanzibar "4711"')(said)).toBe(true);
    expect(tracesOf([], textPattern('"\\d{4}"$'))(said)).toBe(true);
    expect(tracesOf([], textPattern('"\\d{5}"'))(said)).toBe(false);
  });
});

import type { AgentMessage } from "@clew/plugin-sdk/core";
import { isFixed } from "@clew/plugin-sdk/host";
import { toolResult } from "@clew/plugin-sdk/testing";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { describe, expect, it } from "vitest";
import { shortEntry } from "./late-message.ts";

const LONG = "The tide at the rock was high. ".repeat(100);
const CALL: AgentMessage = {
  role: "assistant",
  content: [
    { type: "text", text: LONG },
    {
      type: "toolCall",
      id: "c",
      name: "write",
      arguments: { path: "a.ts", lines: [{ is: LONG }] },
    },
  ],
  stopReason: "toolUse",
};
const PICTURE: AgentMessage = {
  role: "user",
  content: [{ type: "image", data: LONG, mimeType: "image/png" }],
};
const RESULT = {
  ...toolResult({ id: "c", name: "read" }, LONG),
  details: { diff: LONG, lines: 3 },
};

/** What is kept of a message, and how often it was read since. */
function kept(message: AgentMessage) {
  const entry = {
    ...{ type: "message", id: "m", parentId: null, timestamp: "2026-01-01T00:00:00.000Z" },
    message: structuredClone(message),
  } as TranscriptEntry;
  const found = { reads: 0, short: undefined as AgentMessage | undefined };
  const line = {
    ...{ start: 0, length: JSON.stringify(entry).length, origin: "first" },
    readMessage: () => {
      found.reads++;
      return message;
    },
  };
  const short = shortEntry(entry, line);
  if (short?.type === "message") found.short = short.message;
  return found;
}

describe("a message whose long texts stay in the file", () => {
  it.each([
    ["a call", CALL],
    ["a result", RESULT],
    ["a picture", PICTURE],
  ])("says the same as the whole message: %s", (_what, message) => {
    const { short } = kept(message);
    const whole = { ...message, __openclaw: { id: "first" } };
    expect(short).toEqual(whole);
    expect(JSON.parse(JSON.stringify(short))).toEqual(whole);
    expect(structuredClone({ ...short })).toEqual(whole);
    expect(isFixed(short!)).toBe(true);
  });

  it("is read for its long texts only, each time", () => {
    const found = kept(RESULT);
    const content = found.short?.role === "toolResult" ? found.short.content : [];
    expect(content.map(({ type }) => type)).toEqual(["text"]);
    expect(found.reads).toBe(0);
    expect(content).toEqual([{ type: "text", text: LONG }]);
    expect(found.reads).toBeGreaterThan(0);
  });

  it("keeps what was said, which every policy looks at", () => {
    const found = kept(CALL);
    const content = found.short?.role === "assistant" ? found.short.content : [];
    expect(content[0]).toEqual({ type: "text", text: LONG });
    expect(found.reads).toBe(0);
  });

  it("cannot be changed, nor any part of it", () => {
    const { short } = kept(RESULT);
    const content = short?.role === "toolResult" ? short.content : [];
    expect([short, content, content[0]].every(Object.isFrozen)).toBe(true);
  });

  it("stands in for no short message, and for none with a key that changes what it inherits", () => {
    expect(kept(toolResult({ id: "c", name: "read" }, "Done.")).short).toBeUndefined();
    const odd = JSON.parse(`{"role":"user","content":"${LONG}","__proto__":{"role":"system"}}`);
    expect(kept(odd).short).toBeUndefined();
  });
});

import { isFixed } from "@clew/plugin-sdk/host";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { expect, it } from "vitest";
import { keepEntry } from "./kept-entry.ts";

const entry = (details: string): TranscriptEntry =>
  JSON.parse(
    `{"type":"message","id":"a","parentId":null,"timestamp":"","message":{"role":"toolResult","toolCallId":"c","toolName":"t","content":[],"details":${details}}}`,
  ) as TranscriptEntry;
const messageOf = (kept: TranscriptEntry) => (kept.type === "message" ? kept.message : {});

it("what is kept is frozen to its last part, fixed, and not copied again", () => {
  const kept = keepEntry(entry('{"a":[{"b":1}]}'));
  const { details } = messageOf(kept) as { details: { a: object[] } };
  for (const part of [kept, messageOf(kept), details, details.a, details.a[0]])
    expect(Object.isFrozen(part)).toBe(true);
  expect(isFixed(kept)).toBe(true);
  expect(isFixed(messageOf(kept))).toBe(true);
  expect(keepEntry(kept)).toBe(kept);
  expect(messageOf(keepEntry({ ...kept, id: "b" }))).toBe(messageOf(kept));
});

it("a message that hides a key __proto__ is kept as it is, and copied with care by others", () => {
  const kept = keepEntry(entry('{"a":[{"__proto__":{"polluted":true}}]}'));
  expect(isFixed(messageOf(kept))).toBe(false);
  expect(Object.isFrozen(messageOf(kept))).toBe(true);
  expect(JSON.stringify(kept)).toContain('{"__proto__":{"polluted":true}}');
});

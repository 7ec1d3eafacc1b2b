import type { AgentMessage } from "@clew/plugin-sdk/core";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { describe, expect, it } from "vitest";
import { shownEntries } from "./shown.ts";

const CONTEXT =
  "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>\nhost: bureau\n<<<END_OPENCLAW_INTERNAL_CONTEXT>>>";
let number = 0;
const place = () => ({ id: `e${number++}`, parentId: null, timestamp: "2026-01-01T00:00:00.000Z" });
const entry = (message: AgentMessage): TranscriptEntry => ({
  type: "message",
  message,
  ...place(),
});
const user = (content: string) => entry({ role: "user", content });

describe("shown entries", () => {
  it("are without runtime context and hidden messages, and the very entries otherwise", () => {
    const plain = user("hello");
    const hidden: TranscriptEntry = {
      type: "custom_message",
      customType: "note",
      content: "secret",
      display: false,
      ...place(),
    };
    const context: TranscriptEntry = {
      type: "custom_message",
      customType: "openclaw.runtime-context",
      content: "where",
      ...place(),
    };
    const reset: TranscriptEntry = { type: "reset", ...place() };
    const shown = shownEntries([
      plain,
      hidden,
      context,
      user(`${CONTEXT}\n\nWhat time is it?`),
      user(CONTEXT),
      reset,
    ]);
    expect(shown[0]).toBe(plain);
    expect(shown.at(-1)).toBe(reset);
    expect(shown).toHaveLength(3);
    expect(shown[1]).toMatchObject({ message: { content: "What time is it?" } });
  });

  it("are counted after what is hidden", () => {
    const branch = [user("one"), user("two"), user(CONTEXT), user(CONTEXT)];
    expect(shownEntries(branch, 1)).toEqual([branch[1]]);
    expect(shownEntries(branch, 0)).toEqual([]);
  });
});

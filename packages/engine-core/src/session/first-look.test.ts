import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { expect, it } from "vitest";
import { memoryTranscript, passThrough, testHost } from "../__fixtures__/host.ts";
import { createDeliveryLedger, createSessionState, type TranscriptPort } from "../index.ts";

const past = Array.from(
  { length: 1_000 },
  (_, index): TranscriptEntry => ({
    type: "message",
    id: `old-${index}`,
    parentId: index === 0 ? null : `old-${index - 1}`,
    timestamp: "",
    message: { role: "user", content: `m${index}` },
  }),
);

it("a session that was just opened is read whole once, and from then on only what is new", async () => {
  const transcript = memoryTranscript([...past]);
  const answered: number[] = [];
  const counting: TranscriptPort = {
    ...transcript,
    deliveries: createDeliveryLedger(),
    async read(part) {
      const found = await transcript.read(part);
      answered.push(found?.length ?? 0);
      return found;
    },
  };
  const { say } = testHost({
    engine: passThrough({ info: { id: "e", name: "E" }, afterTurn: () => {} }),
    transcript: counting as typeof transcript,
    state: createSessionState(),
  });
  await say("a");
  await say("b");
  expect(answered[0]).toBe(past.length);
  // Two prompts and two replies.
  expect(answered.slice(1).reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(4);
});

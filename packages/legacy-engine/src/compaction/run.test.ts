import { assistant, conversation, toolCall, toolResult, user } from "@clew/plugin-sdk/testing";
import { estimateMessages } from "@clew/plugin-sdk/tokens";
import { describe, expect, it } from "vitest";
import { memorySession, now, obedient, patientSleep } from "../__fixtures__/session.ts";
import { compactTranscript } from "./run.ts";

const long = (turn: number) =>
  `Please look at part ${turn} of the plan. ${`Item ${turn} weighs a lot and is kept in room ${turn}. `.repeat(40)}`;
const talk = (turns: number) =>
  Array.from({ length: turns }, (_, turn) => [user(long(turn)), assistant(`Part ${turn} is done: ${long(turn)}`)]).flat();

describe("smoke", () => {
  it("works", async () => {
    const session = memorySession(talk(60));
    const model = obedient();
    const before = estimateMessages(session.context()).estimate;
    const result = await compactTranscript({ transcript: session, model, trigger: "manual", now, sleep: patientSleep() });
    expect(result.compacted).toBe(true);
  });
});

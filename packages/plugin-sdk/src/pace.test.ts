import { expect, it } from "vitest";
import type { AgentMessage } from "./contract/message.ts";
import { countCalls, growthPerCall } from "./pace.ts";
import { estimateMessages } from "./tokens/message.ts";
import type { TranscriptEntry } from "./transcript/entries.ts";

const reply = (text: string): AgentMessage => ({
  role: "assistant",
  content: [{ type: "text", text }],
  stopReason: "stop",
});
const user = (content: string): AgentMessage => ({ role: "user", content });
const branchOf = (messages: readonly AgentMessage[]): TranscriptEntry[] =>
  messages.map((message, index) => ({
    type: "message",
    id: `e${index}`,
    parentId: null,
    timestamp: "2026-01-01T00:00:00.000Z",
    message,
  }));

it("counts the calls of a branch, and of what came since", () => {
  const branch = branchOf([user("a"), reply("b"), user("c"), reply("d"), reply("e")]);
  const whole = countCalls(branch);
  expect(whole).toEqual({ calls: 3, entries: 5, lastEntryId: "e4" });
  expect(countCalls(branch, countCalls(branch.slice(0, 3)))).toEqual(whole);
});

it("counts again where the branch is another one", () => {
  const branch = branchOf([user("a"), reply("b")]);
  const other = [{ ...branch[0]!, id: "x" }, ...branch.slice(1)];
  expect(countCalls(other, { calls: 7, entries: 1, lastEntryId: "e0" }).calls).toBe(1);
  expect(countCalls([], countCalls(branch))).toMatchObject({ calls: 0, entries: 0 });
});

it("the growth of a session is the median of what its calls added", () => {
  const long = "word ".repeat(500);
  const exchanges = [
    [reply("x"), user("y")],
    [reply(long), user("z")],
    [reply("x"), user("y")],
  ];
  const branch = branchOf([user("the task"), ...exchanges.flat()]);
  expect(growthPerCall(branch, 32_000)).toBe(estimateMessages(exchanges[0]!).estimate);
  expect(growthPerCall(branchOf([user("the task")]), 32_000)).toBe(0);
});

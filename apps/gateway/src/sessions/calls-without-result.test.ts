import { assistant, toolCall, toolResult, user } from "@clew/plugin-sdk/testing";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { expect, it } from "vitest";
import { callsWithoutResult } from "./calls-without-result.ts";

const branchOf = (
  messages: readonly ReturnType<typeof user | typeof assistant | typeof toolResult>[],
) =>
  messages.map(
    (message, at): TranscriptEntry => ({
      ...{ type: "message", id: `e${at}`, parentId: at === 0 ? null : `e${at - 1}` },
      ...{ timestamp: "2026-01-01T00:00:00Z", message },
    }),
  );

const one = toolCall("read", {}, "c1");
const other = toolCall("write", {}, "c2");

it("finds calls whose turn ended before their results came", () => {
  const branch = branchOf([
    user("go"),
    assistant([one, other]),
    toolResult(one, "done"),
    user("go on"),
    assistant([one]),
    toolResult(one, "done again"),
    assistant("ok"),
  ]);
  expect([...callsWithoutResult(branch)]).toEqual([["e1", { callIds: ["c2"], isOver: true }]]);
});

it("does not take a later result of the same id for theirs", () => {
  const branch = branchOf([
    assistant([one]),
    user("again"),
    assistant([one]),
    toolResult(one, "x"),
  ]);
  expect([...callsWithoutResult(branch)]).toEqual([["e0", { callIds: ["c1"], isOver: true }]]);
});

it("says of the last ones that a result may still come", () => {
  const branch = branchOf([user("go"), assistant([one, other]), toolResult(one, "done")]);
  expect([...callsWithoutResult(branch)]).toEqual([["e1", { callIds: ["c2"], isOver: false }]]);
});

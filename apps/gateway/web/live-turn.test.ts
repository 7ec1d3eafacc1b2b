import { assistant, toolCall, toolResult } from "@clew/plugin-sdk/testing";
import { describe, expect, it } from "vitest";
import type { StreamedEvent } from "../src/http/event-stream.ts";
import { applyEvent, chatItems, endTurn, isRunning, startTurn } from "./live-turn.ts";

const call = toolCall("search", { query: "cat" }, "c1");
const EVENTS: StreamedEvent[] = [
  { type: "queued" },
  { type: "accepted", entryId: "u1" },
  { type: "thinking", delta: "Hm." },
  { type: "text", delta: "Let me " },
  { type: "text", delta: "look." },
  {
    type: "message",
    entryId: "a1",
    message: assistant([{ type: "text", text: "Let me look." }, call]),
  },
  { type: "tool_start", call },
  { type: "tool_end", callId: "c1", name: "search", isError: false },
  { type: "message", entryId: "r1", message: toolResult(call, "roof") },
  { type: "text", delta: "On the roof." },
  { type: "message", entryId: "a2", message: assistant("On the roof.") },
  { type: "done", outcome: "completed", error: null, turnId: "t", replyEntryId: "a2" },
];
const after = (count: number) =>
  EVENTS.slice(0, count).reduce(applyEvent, startTurn("Where is my cat?"));
const parts = (count: number) =>
  chatItems([], after(count)).flatMap((item) => (item.kind === "reply" ? item.parts : []));

describe("a running turn", () => {
  it("shows the message at once, and what arrives as it arrives", () => {
    expect(chatItems([], after(0))).toEqual([
      { kind: "person", id: "pending", text: "Where is my cat?", images: 0 },
    ]);
    expect(chatItems([], after(2))).toMatchObject([{ id: "u1" }]);
    expect(parts(4)).toEqual([
      { kind: "thinking", text: "Hm." },
      { kind: "text", text: "Let me " },
    ]);
    expect(parts(6)).toMatchObject([{ text: "Let me look." }, { kind: "tool", state: "waiting" }]);
    expect(parts(7)).toMatchObject([{}, { kind: "tool", state: "running", output: null }]);
    expect(parts(8)).toMatchObject([{}, { kind: "tool", state: "done", output: null }]);
    expect(parts(10)).toMatchObject([
      {},
      { kind: "tool", state: "done", output: "roof" },
      { text: "On the roof." },
    ]);
  });

  it("drops what is void when another gateway goes on with it, and no more", () => {
    const anew = (keeps: string | null) => applyEvent(after(5), { type: "restarted", keeps });
    expect(chatItems([], anew("u1"))).toEqual(chatItems([], after(2)));
    expect(chatItems([], anew(null))).toEqual(chatItems([], after(2)));
    const later = applyEvent(after(10), { type: "restarted", keeps: "a1" });
    expect(later.entries.map(({ id }) => id)).toEqual(["u1", "a1"]);
  });

  it("keeps what the host told beside what arrives", () => {
    const told: StreamedEvent[] = [
      { type: "notice", text: "Compacting the conversation." },
      { type: "text", delta: "So: " },
      { type: "notice", text: "It failed." },
    ];
    const { notices, arriving } = told.reduce(applyEvent, after(2));
    expect(notices).toEqual(["Compacting the conversation.", "It failed."]);
    expect(arriving.text).toBe("So: ");
  });

  it("runs until its last event, and is one reply whatever the number of calls", () => {
    expect(EVENTS.map((_, index) => isRunning(after(index)))).toEqual(EVENTS.map(() => true));
    expect(isRunning(after(EVENTS.length))).toBe(false);
    expect(chatItems([], after(EVENTS.length)).map(({ kind }) => kind)).toEqual([
      "person",
      "reply",
    ]);
  });

  it("shows nothing twice when the history is read while it runs", () => {
    const turn = after(EVENTS.length);
    for (let stored = 0; stored <= turn.entries.length; stored++)
      expect(chatItems(turn.entries.slice(0, stored), turn)).toEqual(chatItems([], turn));
  });

  it("keeps why it failed, and that its message was not stored", () => {
    const locked = { code: "SESSION_LOCKED", message: "Process 7 has it; stop that." };
    const refused = applyEvent(after(1), { type: "error", error: locked });
    expect(refused).toMatchObject({
      phase: "ended",
      isStored: false,
      problem: locked,
      text: "Where is my cat?",
    });
    const failed = applyEvent(after(4), {
      type: "done",
      outcome: "failed",
      error: { kind: "unavailable", message: "Start the server." },
      turnId: "t",
      replyEntryId: null,
    });
    expect(failed).toMatchObject({
      isStored: true,
      problem: { code: "unavailable", message: "Start the server." },
    });
  });

  it("that lost its connection keeps what had arrived", () => {
    const lost = endTurn(after(5), { code: "AWAY", message: "gone" });
    expect(chatItems([], lost)).toMatchObject([
      {},
      { parts: [{ text: "Hm." }, { text: "Let me look." }] },
    ]);
  });
});

import type { AgentMessage } from "@clew/plugin-sdk/core";
import { describe, expect, it } from "vitest";
import type { GatewayEvent, LiveCall, RunningTurn } from "../src/events/shapes.ts";
import { applyGatewayEvent, hasEnded, type Joined, withoutEnded } from "./joined-turn.ts";
import { chatItems } from "./live-turn.ts";
import { callRow } from "./testing/calls.ts";

const session = "agent:main:main";
const head = { id: "1", at: "2026-11-23T10:00:00.000Z" };
const item = (hash: string) => ({
  source: { kind: "ledger" } as const,
  reason: "",
  tokens: 1,
  hash,
});
const call = (kept: number, hashes: readonly string[]): LiveCall => ({
  ...{ turnId: "t", number: 1, model: "house/large", requestHash: "h", system: [], tools: [] },
  ...{
    tokens: callRow("1.1").tokens,
    budget: {
      contextWindow: 2000,
      promptBudget: 1000,
      reserve: 0,
      fixedTokens: 0,
      tokenBudget: 1000,
    },
  },
  messages: { kept, items: hashes.map(item) },
});
const running: RunningTurn = {
  ...{ session, kind: "user", startedAt: head.at, call: null, thinking: "", tools: [] },
  prompt: { entryId: "e1", message: { role: "user", content: "Who is there?" } },
  text: "It is ",
};
const after = (events: readonly GatewayEvent[], joined: Joined = {}) =>
  events.reduce(applyGatewayEvent, joined);
const shown = (joined: Joined) =>
  chatItems([], joined[session]?.turn ?? null).map((each) =>
    each.kind === "reply"
      ? each.parts.map((part) => (part.kind === "text" ? part.text : part.kind)).join(" ")
      : each.kind === "person"
        ? each.text
        : each.kind,
  );

describe("a turn that somebody else began", () => {
  it("is joined in the middle with what was said so far, and followed from there", () => {
    const joined = after([{ type: "hello", ...head, running: [running] }]);
    expect(shown(joined)).toEqual(["Who is there?", "It is "]);
    const more = after([{ type: "text", ...head, session, delta: "Ondine." }], joined);
    expect(shown(more)).toEqual(["Who is there?", "It is Ondine."]);
    const content = [{ type: "text", text: "It is Ondine." }];
    const message = { role: "assistant", content } as unknown as AgentMessage;
    const stored = after([{ type: "message", ...head, session, entryId: "e2", message }], more);
    expect(shown(stored)).toEqual(["Who is there?", "It is Ondine."]);
  });

  it("tells what is sent before it is answered", () => {
    const joined = after([
      { type: "started", ...head, session, kind: "user" },
      { type: "call", ...head, session, call: call(0, ["a", "b"]) },
    ]);
    expect(joined[session]).toMatchObject({ isAnswered: false, call: { requestHash: "h" } });
    const second = after(
      [
        { type: "text", ...head, session, delta: "…" },
        { type: "call", ...head, session, call: call(2, ["c"]) },
      ],
      joined,
    );
    expect(second[session]?.call?.messages.items?.map(({ hash }) => hash)).toEqual(["a", "b", "c"]);
  });

  it("says itself that it is over, also to a page that only hears of it then", () => {
    const started = { type: "started", ...head, session, kind: "user" } as const;
    const done = { type: "done", ...head, session, turnId: "t", error: null } as unknown;
    const asked = after([started, { type: "call", ...head, session, call: call(0, ["a"]) }]);
    expect(hasEnded(asked)).toBe(false);
    const over = after([done as GatewayEvent], asked);
    expect(hasEnded(over)).toBe(true);
    expect(over[session]?.turn.phase).toBe("ended");
    expect(withoutEnded(over, over)).toEqual({});
    // What comes late begins nothing.
    const late = { type: "notice", ...head, session, text: "late" } as unknown as GatewayEvent;
    expect(after([late], over)).toBe(over);
    expect(after([late])).toEqual({});
    // The next one has begun while the reply of the one before was read.
    const next = after([started], over);
    expect(Object.keys(withoutEnded(next, over))).toEqual([session]);
  });

  it("is no other session's, and a reset forgets what is over", () => {
    const joined = after([{ type: "hello", ...head, running: [running] }]);
    const other = { type: "text", ...head, session: "agent:main:other", delta: "x" } as const;
    expect(shown(after([other], joined))).toEqual(["Who is there?", "It is "]);
    expect(after([{ type: "reset", ...head, why: "", running: [] }], joined)).toEqual({});
  });
});

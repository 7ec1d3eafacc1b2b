import { describe, expect, it } from "vitest";
import type { ChatItem } from "../src/conversation/chat-view.ts";
import { applyEvent, endTurn, startTurn } from "./live-turn.ts";
import { problemsAfter, settleTurn } from "./settle-turn.ts";

const person = (text: string): ChatItem => ({ kind: "person", id: text, text, images: 0 });
const reply = (ending: string | null = null): ChatItem => ({
  kind: "reply",
  id: "r",
  parts: [{ kind: "text", text: "x" }],
  ending: ending === null ? null : { kind: "failed", text: ending },
});
const away = { code: "AWAY", message: "The connection broke." };
const refused = { code: "SESSION_LOCKED", message: "Process 7 has it." };
const sent = startTurn("hello");
const stored = applyEvent(sent, { type: "accepted", entryId: "hello" });

describe("an ended turn", () => {
  it("that went well is told by the history alone", () => {
    expect(settleTurn(endTurn(stored, null), [person("hello"), reply()], false)).toEqual({
      problem: null,
      giveBack: null,
    });
  });

  it("that was refused gives the message back and says why", () => {
    expect(settleTurn(endTurn(sent, refused), [], false)).toEqual({
      problem: refused,
      giveBack: "hello",
    });
  });

  it("of another page tells why it has no reply, unless its history or a new turn does", () => {
    const key = "agent:main:main";
    const over = { turn: endTurn(stored, refused), call: null, isAnswered: false, ended: 0 };
    const asked = { role: "user" as const, content: "hello" };
    const read = (...messages: object[]) => ({
      ...{ problems: {}, turns: {} },
      session: {
        ...{ key, updatedAt: "", busy: false, totalEntries: 1 },
        entries: messages.map((message, id) => ({
          type: "message",
          id: `${id}`,
          message,
        })) as never,
      },
    });
    expect(problemsAfter(read(asked), { [key]: over })).toEqual({ [key]: refused });
    expect(problemsAfter(read(asked), { other: over })).toEqual({});
    const running = { ...read(asked), turns: { [key]: stored } };
    expect(problemsAfter(running, { [key]: over })).toEqual({});
    const failed = { role: "assistant", content: [], stopReason: "error", errorMessage: "No." };
    expect(problemsAfter(read(asked, failed), { [key]: over })).toEqual({});
  });

  it("that was a command leaves nothing to send again", () => {
    const answered = applyEvent(startTurn("/status"), {
      type: "command",
      command: "status",
      ok: true,
      text: "Model: x",
    });
    expect(answered).toMatchObject({ entries: [], answer: { ok: true, text: "Model: x" } });
    const done = applyEvent(answered, {
      type: "done",
      outcome: "completed",
      error: null,
      turnId: null,
      replyEntryId: null,
    });
    expect(settleTurn(done, [], false)).toEqual({ problem: null, giveBack: null });
  });

  it("that was stopped while it waited gives the message back and blames nobody", () => {
    const stopped = applyEvent(sent, {
      type: "error",
      error: { code: "ABORTED", message: "The run was cancelled." },
    });
    expect(settleTurn(stopped, [], false)).toEqual({ problem: null, giveBack: "hello" });
  });

  it("whose failure stands in the history is not told twice", () => {
    const failed = { code: "unavailable", message: "Start the server." };
    expect(
      settleTurn(endTurn(stored, failed), [person("hello"), reply("Start the server.")], false)
        .problem,
    ).toBeNull();
    expect(settleTurn(endTurn(stored, failed), [person("hello")], false).problem).toEqual(failed);
  });

  it("that lost its connection is what the history says by now", () => {
    expect(settleTurn(endTurn(stored, away), [person("hello"), reply()], false)).toEqual({
      problem: null,
      giveBack: null,
    });
    expect(settleTurn(endTurn(stored, away), [person("hello")], true)).toEqual({
      problem: null,
      giveBack: null,
    });
    expect(settleTurn(endTurn(stored, away), [person("hello")], false)).toMatchObject({
      problem: { message: expect.stringContaining("send it again") },
      giveBack: null,
    });
  });

  it("whose connection broke before the gateway acknowledged it is given back only when it was not stored", () => {
    expect(settleTurn(endTurn(sent, away), [person("hello")], false).giveBack).toBeNull();
    expect(settleTurn(endTurn(sent, away), [person("earlier"), reply()], false).giveBack).toBe(
      "hello",
    );
  });
});

import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { assistant, conversation, user } from "../testing/messages.ts";
import { isUserTurn, splitTurns, turnStart } from "./turns.ts";

describe("splitTurns", () => {
  it("starts a turn at every user message, two in a row included, and keeps what comes before the first", () => {
    expect(splitTurns([assistant("x"), user("a"), user("b"), assistant("y")])).toEqual([
      { start: 0, end: 1 },
      { start: 1, end: 2 },
      { start: 2, end: 4 },
    ]);
    expect(splitTurns([])).toEqual([]);
  });

  it("covers every message once and has one turn per user message, for any order of roles", () => {
    const message = fc.constantFrom(user("u"), assistant("a"), {
      role: "bashExecution",
      command: "ls",
      output: "",
    } as const);
    fc.assert(
      fc.property(fc.array(message), (messages) => {
        const turns = splitTurns(messages);
        expect(turns.flatMap(({ start, end }) => messages.slice(start, end))).toEqual(messages);
        const users = messages.filter(isUserTurn).length;
        expect(turns.length).toBe(
          users + (messages.length > 0 && !isUserTurn(messages[0]!) ? 1 : 0),
        );
      }),
    );
  });
});

describe("turnStart", () => {
  it("is the user message at or before the index", () => {
    const messages = [assistant("x"), ...conversation({ turns: 2 })];
    expect([0, 1, 2, 3, 4, 99].map((index) => turnStart(messages, index))).toEqual([
      undefined,
      1,
      1,
      3,
      3,
      3,
    ]);
  });
});

import type { AgentMessage } from "@clew/plugin-sdk/core";
import type { EngineMethod } from "@clew/plugin-sdk/host";
import { user } from "@clew/plugin-sdk/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { takeResult } from "./results.ts";

const given: AgentMessage[] = ["one", "two", "three", "four"].map((text, index) => ({
  ...user(text),
  __openclaw: { id: `e${index}` },
}));

const view = (messages: unknown, more: object = {}) =>
  takeResult("assemble", { messages, estimatedTokens: 0, ...more }, given);

function messagesOf(messages: unknown): AgentMessage[] {
  const taken = view(messages);
  if (!taken.ok) throw new Error(taken.problem);
  return (taken.value as { messages: AgentMessage[] }).messages;
}

describe("the messages an engine returns", () => {
  it("are the given ones where they say the same, wherever they stand", () => {
    const summary = user("a summary");
    const copies = structuredClone(given);
    const mixed = [summary, copies[1], given[2], copies[3]];
    const taken = messagesOf(mixed);
    expect(taken).toEqual(mixed);
    expect([1, 2, 3].map((index) => taken[index] === given[index])).toEqual([true, true, true]);
    expect(taken[0]).not.toBe(summary);
    expect(Object.isFrozen(taken[0])).toBe(true);
  });

  it("say what they said when they were returned, in the order they had", () => {
    const part = fc.constantFrom(...given, ...structuredClone(given), user("new"), user("two"));
    fc.assert(
      fc.property(fc.array(part), fc.boolean(), (messages, frozen) => {
        const list = frozen ? Object.freeze(messages) : messages;
        const wanted = structuredClone(list);
        const taken = messagesOf(list);
        expect(taken).toEqual(wanted);
        for (const message of taken) {
          const id = message.__openclaw?.id;
          if (id !== undefined) expect(message).toBe(given.find((it) => it.__openclaw?.id === id));
        }
      }),
    );
  });

  it("do not change when the engine changes its own", () => {
    const own = { role: "user", content: [{ type: "text", text: "before" }] };
    const taken = messagesOf([own]);
    own.content[0]!.text = "after";
    expect(taken).toEqual([{ role: "user", content: [{ type: "text", text: "before" }] }]);
  });

  const odd: [unknown, string][] = [
    ["text", 'expected an object with a "messages" array (got an object with messages, estim'],
    [[given[0]].concat(new Array(1)), "messages[1] is a hole in the list"],
    [[given[0], undefined], "messages[1] is undefined"],
    [[null], "messages[0] is null; expected a message"],
    [[[]], "messages[0] is a list; expected a message"],
    [[{ role: "banana", content: "x" }], 'messages[0].role is "banana"; expected one of user, '],
    [[{ role: "system", content: "x" }], 'messages[0].role is "system"'],
    [[{ role: "toString", content: "x" }], 'messages[0].role is "toString"'],
    [[{ content: "x" }], "messages[0].role is missing"],
    [[{ role: "user" }], "messages[0].content is missing; expected a string or a list of blocks"],
    [[{ role: "user", content: null }], "messages[0].content is null"],
    [[{ role: "assistant", content: {} }], "messages[0].content is an object"],
    [[{ role: "user", content: ["x"] }], "messages[0].content[0] is a string; expected a block"],
    [[{ role: "user", content: [{}] }], "messages[0].content[0].type is missing"],
    [[{ role: "compactionSummary" }], "messages[0].summary is missing; expected a string"],
    [[{ role: "user", content: "x", extra: 1n }], "messages[0].extra is a bigint"],
  ];
  it.each(odd)("are refused by field: %#", (messages, problem) => {
    const taken = view(messages);
    expect(taken).toMatchObject({ ok: false });
    expect((taken as { problem: string }).problem).toContain(problem);
  });
});

describe("every field of a result is checked, and named when it is wrong", () => {
  const whole = { messages: [], estimatedTokens: 0 };
  const cases: [EngineMethod, unknown, string][] = [
    ["assemble", 42, 'expected an object with a "messages" array (got a number)'],
    ["assemble", undefined, "(got nothing)"],
    ["assemble", { ...whole, estimatedTokens: "12" }, "estimatedTokens "],
    ["assemble", { ...whole, estimatedTokens: null }, "estimatedTokens "],
    ["assemble", { ...whole, promptAuthority: "mine" }, "promptAuthority "],
    ["assemble", { ...whole, systemPromptAddition: 7 }, "systemPromptAddition "],
    ["assemble", { ...whole, systemPromptAddition: ["x"] }, "systemPromptAddition "],
    ["assemble", { ...whole, contextProjection: null }, "contextProjection "],
    ["assemble", { ...whole, contextProjection: { mode: "x" } }, "contextProjection.mode "],
    [
      "assemble",
      { ...whole, contextProjection: { mode: "per_turn", epoch: 1 } },
      "contextProjection.epoch ",
    ],
    ["compact", { compacted: true }, "ok "],
    ["compact", { ok: true, compacted: "yes" }, "compacted "],
    ["compact", { ok: true, compacted: true, result: { sessionId: 7 } }, "result.sessionId "],
    ["compact", { ok: true, compacted: true, result: { details: () => 1 } }, "result.details "],
    ["commitTurn", undefined, 'status "committed" or "duplicate"'],
    ["commitTurn", { status: "stored" }, "status "],
    ["bootstrap", 42, "expected an object (got a number)"],
    ["bootstrap", { bootstrapped: 1 }, "bootstrapped "],
    ["maintain", { changed: "yes" }, "changed "],
    ["ingest", { ingested: "yes" }, "ingested "],
    ["ingestBatch", { ingestedCount: [] }, "ingestedCount "],
    ["prepareSubagentSpawn", { rollback: "undo" }, "rollback is a string; expected a function"],
  ];
  it.each(cases)("%s %#", (method, result, problem) => {
    const taken = takeResult(method, result);
    expect(taken).toMatchObject({ ok: false });
    expect((taken as { problem: string }).problem).toContain(problem);
  });

  it("and a sound one comes back as the host's own object, without what the host does not know", () => {
    const projection = { mode: "thread_bootstrap", epoch: "e1" };
    const taken = view([], {
      estimatedTokens: Number.NaN,
      promptAuthority: "assembled",
      systemPromptAddition: "note",
      contextProjection: projection,
      later: 1n,
    });
    expect(taken).toEqual({
      ok: true,
      value: {
        messages: [],
        estimatedTokens: Number.NaN,
        promptAuthority: "assembled",
        systemPromptAddition: "note",
        contextProjection: { mode: "thread_bootstrap", epoch: "e1" },
      },
    });
  });

  it("null says nothing where engines write it for nothing, and older ones return nothing", () => {
    const compacted = { ok: false, compacted: false, reason: null, result: null };
    expect(takeResult("compact", compacted)).toEqual({
      ok: true,
      value: { ok: false, compacted: false },
    });
    expect(takeResult("ingest", undefined)).toEqual({ ok: true, value: { ingested: false } });
    expect(takeResult("afterTurn", Symbol("anything"))).toEqual({ ok: true, value: undefined });
  });

  it("a preparation is undone by the object it came with", async () => {
    class Preparation {
      #undone = 0;
      rollback() {
        this.#undone++;
        return this.#undone;
      }
    }
    const taken = takeResult("prepareSubagentSpawn", new Preparation());
    if (!taken.ok) throw new Error(taken.problem);
    await expect((taken.value as Preparation).rollback()).resolves.toBeUndefined();
  });
});

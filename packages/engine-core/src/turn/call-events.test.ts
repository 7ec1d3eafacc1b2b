import { describe, expect, it } from "vitest";
import { callTool, testHost, tools } from "../__fixtures__/host.ts";
import type { SentCall, TurnEvent, TurnRequest, TurnSoFar } from "../index.ts";

const sentIn = (events: readonly TurnEvent[]): SentCall[] =>
  events.flatMap((event) => (event.type === "call" ? [event.call] : []));

describe("a listener of a turn", () => {
  it("has the request before the model is asked, and all of it", async () => {
    const toldBefore: number[] = [];
    const host = testHost({
      replies: [() => callTool("look"), () => "done", () => "again"].map((reply) => () => {
        toldBefore.push(sentIn(host.events).length);
        return reply();
      }),
      tools: tools({ look: () => "seen" }),
    });
    const first = await host.say("hi");
    const second = await host.say("and now");
    expect(toldBefore).toEqual([1, 2, 3]);
    const calls = sentIn(host.events);
    const reported = [first, second].flatMap(({ report }) => report.modelCalls);
    expect(calls.map(({ requestHash }) => requestHash)).toEqual(
      reported.map(({ requestHash }) => requestHash),
    );
    expect(calls.map(({ kept, messages }) => [kept, messages.length])).toEqual([
      [0, 1],
      [1, 3],
      [3, 5],
    ]);
    expect(calls[1]!.messages.map(({ role }) => role)).toEqual(["user", "assistant", "toolResult"]);
    for (const [index, { messages }] of calls.entries()) {
      const tokens = messages.reduce((sum, item) => sum + item.tokens, 0);
      expect(tokens).toBe(reported[index]!.messages.tokens);
    }
    expect(calls[0]).toMatchObject({
      turnId: first.report.turnId,
      ...{ index: 0, model: reported[0]!.model ?? first.report.model.resolved },
      budget: { contextWindow: 100_000 },
    });
  });

  it("has all messages of the call behind one that the host did not let through", async () => {
    const host = testHost({
      replies: [
        "one",
        () => {
          throw new Error("not now");
        },
        "three",
        "four",
      ],
    });
    await host.say("hi");
    expect((await host.say("held back")).report.modelCalls).toEqual([]);
    const [third, fourth] = [await host.say("and now"), await host.say("and then")];
    const listed = [third, fourth].map(({ report }) => report.modelCalls[0]!.messages);
    expect(listed.map(({ kept, items }) => [kept, items.length])).toEqual([
      [0, sentIn(host.events).at(-2)!.messages.length],
      [sentIn(host.events).at(-2)!.messages.length, 2],
    ]);
  });

  it("is told how each call ended, as the report says it", async () => {
    const host = testHost({
      replies: [{ error: { kind: "invalid_request", message: "No." } }],
    });
    const { report } = await host.say("hi");
    const ended = host.events.flatMap((event) => (event.type === "call_end" ? [event.call] : []));
    const { system, tools: _none, messages, policyChanges, size, ...call } = report.modelCalls[0]!;
    expect(ended).toEqual([{ ...call, model: report.model.resolved }]);
    expect(ended[0]).toMatchObject({ error: "No.", stopReason: null });
  });

  it("can ask at any time for what will be reported of the turn so far", async () => {
    const told: (TurnSoFar & { at: string })[] = [];
    let soFar: () => TurnSoFar = () => {
      throw new Error("nothing began");
    };
    const look = (at: string) => void told.push({ at, ...soFar() });
    const host = testHost({
      replies: [
        () => {
          look("first call");
          return callTool("look");
        },
        () => {
          look("second call");
          return "done";
        },
      ],
      tools: tools({
        look: () => {
          look("tool");
          return "seen";
        },
      }),
    });
    const onBegin: TurnRequest["onBegin"] = (given) => {
      soFar = given;
    };
    const { report, parts } = await host.say("hi", { onBegin });
    expect(
      told.map(({ at, isAnswering, report: { modelCalls } }) => [
        ...[at, isAnswering, modelCalls.length],
      ]),
    ).toEqual([
      ["first call", true, 1],
      ["tool", false, 1],
      ["second call", true, 2],
    ]);
    const last = told.at(-1)!;
    expect(last.report.modelCalls[0]).toEqual(report.modelCalls[0]);
    const { usage, stopReason, durationMs, cache, ...sent } = report.modelCalls[1]!;
    expect(last.report.modelCalls[1]).toMatchObject({ ...sent, usage: null, stopReason: null });
    expect(last.parts).toEqual(parts);
    expect(last.report).toMatchObject({
      ...{ turnId: report.turnId, promptEntryId: report.promptEntryId, engine: report.engine },
    });
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { callTool, MODEL, passThrough, testHost, tools } from "../__fixtures__/host.ts";
import { resolveContextEngine, type TurnRequest } from "../index.ts";
import type { Fact } from "./facts.ts";
import { beginTurn, next } from "./next.ts";
import { openTurn } from "./open-turn.ts";
import { planTurn } from "./order.ts";
import { reportOf } from "./report-of.ts";
import { runEffects } from "./run-effects.ts";
import { newTurn, type Turn } from "./turn.ts";

/** What happened in one turn with a tool, an overflow, a compaction and a reply. */
async function recorded(): Promise<{ opened: Turn; turn: Turn; facts: readonly Fact[] }> {
  let compacted = 0;
  const engine = passThrough({
    info: { id: "owner", name: "Owner", ownsCompaction: true },
    assemble: ({ messages }) => ({
      messages,
      estimatedTokens: 0,
      systemPromptAddition: `compacted ${compacted} times`,
    }),
    compact: () => ({
      ok: true,
      compacted: ++compacted > 0,
      result: { tokensBefore: 2, tokensAfter: 1 },
    }),
  });
  const host = testHost({
    engine,
    replies: [callTool("look"), { error: { kind: "overflow", message: "too long" } }, "done"],
    tools: tools({ look: () => "x" }),
  });
  const { registry, ports, state } = host;
  const plugins = { slots: { contextEngine: "test" } };
  const request: TurnRequest = {
    engine: await resolveContextEngine({ registry, config: { plugins } }),
    ports,
    state,
    model: MODEL,
    systemPrompt: [],
    prompt: { content: "hi" },
  };
  const { setup, signal, open } = openTurn(request, "turn");
  const opened = newTurn(setup, planTurn(setup));
  return { opened, ...(await runEffects(opened, open, { signal })) };
}

describe("next", () => {
  it("is a function of turn and fact: the same facts give the same turn and the same effects", async () => {
    const { opened, turn, facts } = await recorded();
    const play = () => {
      let { turn: current, effects } = beginTurn(opened);
      const asked = [effects];
      for (const fact of facts) {
        ({ turn: current, effects } = next(current, fact));
        asked.push(effects);
      }
      return { current, asked };
    };
    const first = play();
    expect(first.current).toEqual(turn);
    expect(play()).toEqual(first);
    expect(turn.todo).toEqual([]);
  });

  it("never changes the turn it is given", async () => {
    const { opened, facts } = await recorded();
    let current = freeze(beginTurn(opened).turn);
    for (const fact of facts) current = freeze(next(current, fact).turn);
    expect(current.reply).not.toBeNull();
  });

  it("is total: any fact in any state gives a turn, and the turn can still be ended", async () => {
    const { opened, facts } = await recorded();
    fc.assert(
      fc.property(fc.array(fc.nat(facts.length - 1), { maxLength: 40 }), (order) => {
        let { turn } = beginTurn(opened);
        for (const index of order) turn = next(turn, facts[index]!).turn;
        for (let ends = 0; ends < 4 && turn.todo.length > 0; ends++)
          turn = next(turn, ends % 2 === 0 ? { type: "aborted" } : facts.find(isStored)!).turn;
        expect(turn.todo).toEqual([]);
      }),
    );
  });

  it("asks for at most one answer at a time, and asks for it last", async () => {
    const { opened, facts } = await recorded();
    let { turn, effects } = beginTurn(opened);
    for (const fact of facts) {
      const asks = effects.filter((effect) => !["emit", "log"].includes(effect.do));
      expect(asks.length).toBeLessThanOrEqual(1 + effects.filter(isSilentTell).length);
      ({ turn, effects } = next(turn, fact));
    }
  });
});

describe("the report", () => {
  it("is a fold over the facts: a list that was cut off reports what had happened by then", async () => {
    const { opened, facts } = await recorded();
    let { turn } = beginTurn(opened);
    const lengths: number[] = [];
    for (const [index, fact] of facts.entries()) {
      turn = next(turn, fact).turn;
      const report = reportOf(turn, facts.slice(0, index + 1));
      lengths.push(report.modelCalls.length + report.toolCalls.length + report.compactions.length);
    }
    expect(lengths).toEqual([...lengths].sort((left, right) => left - right));
    expect(lengths.at(-1)).toBe(5);
  });
});

const isStored = (fact: Fact) => fact.type === "appended" && fact.as === "prompt";
const isSilentTell = (effect: { do: string }) =>
  ["forget-measurement", "bad-view", "set-aside"].includes(effect.do);

function freeze(turn: Turn): Turn {
  for (const value of Object.values(turn)) if (typeof value === "object") Object.freeze(value);
  return Object.freeze(turn);
}

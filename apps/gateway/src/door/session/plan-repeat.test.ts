// Says things again to sessions whose newest turn ended in any way.
import type { AgentMessage, ToolResultMessage } from "@clew/plugin-sdk/core";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type AnswerFate,
  planRepeat,
  type RepeatPlan,
  type RepeatQuestion,
  type Told,
} from "./plan-repeat.ts";

const words = (text: string): Told => ({ results: [], said: [{ type: "text", text }] });
const result = (id: string, text: string): ToolResultMessage => ({
  ...{ role: "toolResult", toolCallId: id, toolName: "look", isError: false, timestamp: 1 },
  content: [{ type: "text", text }],
});

const branchOf = (messages: readonly AgentMessage[]): TranscriptEntry[] =>
  messages.map((message, at) => ({
    ...{ type: "message", id: `e${at}`, parentId: at === 0 ? null : `e${at - 1}` },
    ...{ timestamp: "2026-01-01T00:00:00.000Z", message },
  }));

const ENDS = {
  whole: [{ role: "assistant", content: [{ type: "text", text: "yes" }], stopReason: "stop" }],
  failed: [{ role: "assistant", content: [], stopReason: "error" }],
  partly: [{ role: "assistant", content: [{ type: "text", text: "y" }], stopReason: "aborted" }],
  empty: [{ role: "assistant", content: [], stopReason: "aborted" }],
  none: [],
} satisfies Record<string, AgentMessage[]>;
type End = keyof typeof ENDS;

/** A turn with `steps` calls of tools before its end. */
const turnOf = (text: string, steps: number, end: End): AgentMessage[] => [
  { role: "user", content: text },
  ...Array.from({ length: steps }, (_, at): AgentMessage[] => [
    {
      ...{ role: "assistant", stopReason: "toolUse" },
      content: [{ type: "toolCall", id: `${text}${at}`, name: "look", arguments: {} }],
    },
    result(`${text}${at}`, "seen"),
  ]).flat(),
  ...ENDS[end],
];

const turns = fc.array(
  fc.record({
    text: fc.constantFrom("a", "b", "c"),
    steps: fc.nat(2),
    end: fc.constantFrom(...(Object.keys(ENDS) as End[])),
  }),
  { minLength: 1, maxLength: 4 },
);

const fates = fc.constantFrom<(AnswerFate | undefined)[]>("left", "told", "ended", undefined);

const planFor = (given: Partial<RepeatQuestion>) =>
  planRepeat({
    ...{ asked: words("a"), isRetry: false, running: [], branch: [], fateOf: () => undefined },
    ...given,
  });

const lastWords = (branch: readonly TranscriptEntry[]) =>
  branch.findLastIndex((entry) => entry.type === "message" && entry.message.role === "user");

describe("what is said again", () => {
  it("stands once, unless its answer was heard whole or somebody ended it", () => {
    fc.assert(
      fc.property(turns, fc.boolean(), fates, (given, isRetry, fate) => {
        const branch = branchOf(given.flatMap(({ text, steps, end }) => turnOf(text, steps, end)));
        const at = lastWords(branch);
        const { text, steps, end } = given.at(-1)!;
        const fateOf = (id: string) => (id === branch[at]!.id ? fate : undefined);
        const plan = planFor({ branch, fateOf, isRetry, asked: words(text) });
        const expected = ((): RepeatPlan["kind"] => {
          if (end === "whole")
            return fate === "left" || (isRetry && fate === "told") ? "told" : "new";
          const isOver = fate === "ended" && !isRetry;
          if (steps > 0) return isOver ? "new" : "on";
          return isOver && end === "partly" ? "new" : "instead";
        })();
        expect(plan.kind).toBe(expected);
        if (plan.kind === "instead") expect(plan.keep).toBe(at);
        if (plan.kind === "on") expect(plan.keep).toBe(branch.length - ENDS[end].length);
        if (fate !== undefined) return;
        // Whoever says it, and however often: only behind a whole answer it stands twice.
        const kept =
          plan.kind === "instead" || plan.kind === "on" ? branch.slice(0, plan.keep) : branch;
        const stands = plan.kind === "new" || plan.kind === "instead" ? 1 : 0;
        const count = (entries: readonly TranscriptEntry[]) => lastWords(entries) === at;
        expect(Number(count(kept)) + stands).toBe(end === "whole" ? 2 : 1);
      }),
    );
  });

  it("is new where its client has kept what it heard of the answer, and says it behind that", () => {
    fc.assert(
      fc.property(turns, fates, fc.nat(3), (given, fate, heard) => {
        const branch = branchOf(given.flatMap(({ text, steps, end }) => turnOf(text, steps, end)));
        const { text, end } = given.at(-1)!;
        const reply = { whole: "yes", partly: "y", failed: "", empty: "", none: "" }[end];
        const before = { said: words(text).said, text: reply.slice(0, heard) };
        const plan = planFor({ branch, fateOf: () => fate, asked: { ...words(text), before } });
        if (before.text !== "") expect(plan.kind).toBe("new");
        const other = { ...before, said: words("another").said };
        const asked = { ...words(text), before: other };
        const without = { branch, fateOf: () => fate, asked: words(text) };
        expect(planFor({ ...without, asked })).toEqual(planFor(without));
      }),
    );
  });

  it("is new where it is another thing", () => {
    fc.assert(
      fc.property(turns, fc.boolean(), fates, (given, isRetry, fate) => {
        const branch = branchOf(given.flatMap(({ text, steps, end }) => turnOf(text, steps, end)));
        const fateOf = () => fate;
        const isLeft = fate === "left";
        const running = given.map(({ text }) => ({ asked: words(text), isLeft }));
        const asked = words("another");
        expect(planFor({ branch, fateOf, running, isRetry, asked }).kind).toBe("new");
        const results = { results: [result("another", "seen")], said: [] };
        expect(planFor({ branch, fateOf, running, isRetry, asked: results }).kind).toBe("new");
      }),
    );
  });

  it("is a result that its turn has already, whoever says so", () => {
    fc.assert(
      fc.property(turns, fc.boolean(), (given, isRetry) => {
        const branch = branchOf(given.flatMap(({ text, steps, end }) => turnOf(text, steps, end)));
        const { text, steps, end } = given.at(-1)!;
        const said = [{ type: "text", text: "And?" }] as const;
        const asked = { results: [result(`${text}${steps - 1}`, "seen")], said };
        const plan = planFor({ branch, isRetry, asked });
        const keep = branch.length - ENDS[end].length;
        if (steps === 0) expect(plan.kind).toBe("new");
        else if (end !== "whole") expect(plan).toEqual({ kind: "on", keep });
        else expect(plan).toMatchObject({ kind: "told", replies: ENDS.whole });
      }),
    );
  });

  it("is new where one of several results is new", () => {
    const branch = branchOf(turnOf("a", 1, "whole"));
    const told = { results: [result("a0", "seen")], said: [] };
    expect(planFor({ branch, asked: told }).kind).toBe("told");
    const more = { results: [...told.results, result("b0", "seen")], said: [] };
    expect(planFor({ branch, asked: more }).kind).toBe("new");
  });

  it("is the answer that is under way: for results always, for words if their client left", () => {
    const results = { results: [result("c", "seen")], said: [] };
    const other = { asked: words("b"), isLeft: true };
    const join = { kind: "join", at: 1 };
    const under = (asked: Told, isLeft: boolean) => [other, { asked, isLeft }];
    const otherwise = { results: [result("c", "seen otherwise")], said: [] };
    for (const asked of [results, otherwise])
      expect(planFor({ asked, running: under(results, false) })).toEqual(join);
    expect(planFor({ running: under(words("a"), true) })).toEqual(join);
    expect(planFor({ running: under(words("a"), false), isRetry: true })).toEqual(join);
    expect(planFor({ running: under(words("a"), false) }).kind).toBe("new");
  });

  it("is never a turn that was summed up", () => {
    const branch = branchOf(turnOf("a", 0, "empty"));
    const summed: TranscriptEntry = {
      ...{ type: "compaction", id: "s", parentId: "e1", timestamp: "2026-01-01T00:00:00.000Z" },
      ...{ summary: "…", firstKeptEntryId: "e0", tokensBefore: 9 },
    };
    expect(planFor({ branch: [...branch, summed] }).kind).toBe("new");
  });
});

import { describe, expect, it } from "vitest";
import { judge, judgeCalls, sequencesOf } from "./judge.ts";
import type { StepOutcome } from "./lead.ts";
import type { SentRequest } from "./model-server.ts";
import type { TriedPlugin } from "./plugins.ts";
import type { Phase } from "./session-script.ts";

const PLUGIN: TriedPlugin = { id: "x", folder: "x", mark: null, compacts: "itself" };

const request = (past: string, tokens = 10, more: Partial<SentRequest> = {}): SentRequest => ({
  messages: [{ role: "user", text: past }],
  ...{ tools: ["read"], isSummary: false, tokens, violations: [], ...more },
});

const said = (phase: Phase, requests: SentRequest[], more: Partial<StepOutcome> = {}) => ({
  ...{ step: { kind: "say" as const, phase, text: "…" }, ok: true, text: "", requests, calls: [] },
  ...more,
});

const compacted: StepOutcome = {
  ...{ step: { kind: "compact" }, ok: true, text: "", requests: [], calls: [] },
};

const toolResult = { messages: [{ role: "tool", text: "found: The harbour is called Elbe-7719" }] };

describe("what came of a session", () => {
  it("is good when everything was answered and nothing is odd", () => {
    const outcomes = [
      said("plain", [request("all", 100)]),
      said("tool", [request("all", 100), request("all", 110, toolResult)]),
      compacted,
      said("compacted", [request("summary", 20)]),
      said("restarted", [request("summary", 30)]),
    ];
    expect(judge(PLUGIN, outcomes)).toEqual([]);
  });

  it.each<[what: string, outcomes: StepOutcome[], fault: string]>([
    ["an answer that failed", [said("plain", [], { ok: false, text: "HTTP 500" })], "HTTP 500"],
    ["a tool that did not run", [said("tool", [request("all")])], "the tool did not run"],
    [
      "a tool that ran in an earlier turn only",
      [
        said("tool", [
          request("all", 10, {
            messages: [...toolResult.messages, { role: "user", text: "read" }],
          }),
        ]),
      ],
      "the tool did not run",
    ],
    [
      "a request that breaks a rule",
      [said("plain", [request("a", 1, { violations: [{ rule: "tool.orphan", text: "lost" }] })])],
      "step 1 (plain): a request breaks tool.orphan: lost",
    ],
    ["a request above the window", [said("plain", [request("a", 130_000)])], "of 130000 tokens"],
    [
      "a compaction that changes nothing",
      [said("plain", [request("all", 100)]), compacted, said("compacted", [request("all", 100)])],
      "step 2: 100 tokens before the compaction, 100 after",
    ],
    [
      "a past that is told otherwise after a restart",
      [
        ...[said("plain", [request("all", 100)]), compacted],
        ...[said("compacted", [request("one", 20)]), said("restarted", [request("two", 20)])],
      ],
      "step 2: what stands for the past changed",
    ],
  ])("has %s named", (_, outcomes, fault) => {
    expect(judge(PLUGIN, outcomes)).toContainEqual(expect.stringContaining(fault));
  });

  it("tells when nothing shows that the engine was there, and what its tool did not find", () => {
    const recall = { tool: "find", parameters: {} };
    const plugin = { ...PLUGIN, mark: /its own words/, recall };
    const nothing = [said("recall", [request("all")])];
    expect(judge(plugin, nothing)).toEqual([
      "no request holds what only its engine puts there (/its own words/)",
      "find did not find what was said at the beginning",
    ]);
    const found = [said("recall", [request("its own words"), request("all", 1, toolResult)])];
    expect(judge(plugin, found)).toEqual([]);
  });
});

describe("the calls of an engine", () => {
  it("hold a view for each message, and its turn at most once", () => {
    const calls = (list: string) => said("plain", [], { calls: list.split(" ") });
    expect(judgeCalls([calls("factory assemble commitTurn dispose")])).toEqual([]);
    expect(judgeCalls([calls("factory dispose")])).toEqual([
      "step 1: the engine was not asked for a view",
    ]);
    expect(judgeCalls([calls("assemble commitTurn commitTurn")])).toEqual([
      "step 1: the turn was committed 2 times",
    ]);
  });

  it("are compared by phase, with what comes again in a row as one", () => {
    const calls = (phase: Phase, list: string) => said(phase, [], { calls: list.split(" ") });
    const outcomes = [calls("plain", "a b b"), calls("plain", "a b"), calls("tool", "a")];
    expect(sequencesOf(outcomes)).toEqual({ plain: ["a b"], tool: ["a"] });
  });
});

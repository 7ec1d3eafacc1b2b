import { describe, expect, it } from "vitest";
import type { Binding, ThreadKey, ThreadState } from "./binding.ts";
import { type ProjectionFacts, planProjection } from "./plan-projection.ts";

const KEY: ThreadKey = {
  ...{ epoch: "e1", fingerprint: "f", engine: "tide", instructions: "i", tools: "t" },
  ...{ config: "c", cwd: "/w", provider: "p", effort: "" },
};
const binding = (change: Partial<Binding> = {}): Binding => ({
  ...{ v: 1, sessionKey: "main", sessionId: "s1", threadId: "old", key: KEY, totalTokens: 0 },
  ...{ firstAddition: "a", addition: "a", through: "m2", withIt: [], state: { name: "ready" } },
  ...change,
});
const seen = (...ids: string[]) => ids.map((id) => ({ ids: [id] }));
const plan = (change: Partial<ProjectionFacts> = {}) =>
  planProjection({
    ...{ binding: binding(), sessionId: "s1", key: KEY, addition: "a", canAdd: true },
    history: seen("m1", "m2"),
    ...change,
  });
const inState = (state: ThreadState) => plan({ binding: binding({ state }) });

describe("how a context enters Codex", () => {
  it("is a thread that goes on where nothing changed", () => {
    expect(plan()).toMatchObject({
      ...{ kind: "continue", threadId: "old", revert: null, missing: 0, tellsAddition: false },
    });
  });

  it("is one for the turn alone where the engine wants no thread twice", () => {
    expect(plan({ key: null })).toMatchObject({ kind: "per-turn" });
  });

  it("is the first one of a session that has none", () => {
    expect(plan({ binding: null })).toMatchObject({ kind: "new", replaces: null });
  });

  it.each(Object.keys(KEY) as (keyof ThreadKey)[])("is another one where %s is another", (part) => {
    expect(plan({ key: { ...KEY, [part]: "other" } })).toMatchObject({
      ...{ kind: "new", replaces: "old" },
    });
  });

  it("is another one for another transcript", () => {
    expect(plan({ sessionId: "s2" })).toMatchObject({
      kind: "new",
      reason: "the session began anew",
    });
  });

  it.each<[ThreadState]>([
    [{ name: "stale", why: "it was compacted" }],
    [{ name: "opening" }],
    [{ name: "adding" }],
    [{ name: "running", turnId: null }],
  ])("is another one where it is not known what it holds: $name", (state) => {
    expect(inState(state)).toMatchObject({ kind: "new", replaces: "old" });
  });

  it.each<[ThreadState]>([[{ name: "running", turnId: "t1" }], [{ name: "failed", turnId: "t1" }]])(
    "goes on without a turn that had no end: $name",
    (state) => {
      expect(inState(state)).toMatchObject({ kind: "continue", revert: "t1" });
    },
  );

  it("gets what somebody else said since", () => {
    expect(plan({ history: seen("m1", "m2", "m3", "m4") })).toMatchObject({ missing: 2 });
  });

  it("knows a message that a policy joined to another", () => {
    expect(plan({ history: [{ ids: ["m1"] }, { ids: ["m0", "m2"] }] })).toMatchObject({
      missing: 0,
    });
  });

  it("is another one where it holds what the view leaves out, as after an undo", () => {
    expect(plan({ history: seen("m1") })).toMatchObject({
      ...{ kind: "new", reason: "the last one holds what the view leaves out" },
    });
  });

  it("gets all of a view while it holds nothing that has an id", () => {
    expect(plan({ binding: binding({ through: null }) })).toMatchObject({ missing: 2 });
    // What a tool gave came behind the reply, and stands before it in the view.
    const late = binding({ through: "result", withIt: ["call", "reply", "result"] });
    const history = seen("m1", "call", "result", "reply");
    expect(plan({ binding: late, history })).toMatchObject({ kind: "continue", missing: 0 });
    expect(plan({ binding: late, history: seen("m1", "reply") })).toMatchObject({ kind: "new" });
  });

  it("is told a changed addition, or begins anew where nothing can be added", () => {
    expect(plan({ addition: "b" })).toMatchObject({ kind: "continue", tellsAddition: true });
    expect(plan({ addition: "b", canAdd: false })).toMatchObject({ kind: "new" });
    expect(plan({ history: seen("m1", "m2", "m3"), canAdd: false })).toMatchObject({ kind: "new" });
  });
});

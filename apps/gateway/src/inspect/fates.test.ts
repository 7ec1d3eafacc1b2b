import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { planBoundaries } from "./boundaries.ts";
import { createBranchCursor } from "./branch-cursor.ts";
import { createFateCounter } from "./fate-counter.ts";
import { AS_STORED, type CallFacts, countFates, planFates, type Treatment } from "./fates.ts";

const TIME = "2026-01-01T00:00:00.000Z";

/** "m" a message, "c<first kept>" a compaction, "r" a reset, "x" a record. */
function branchOf(...kinds: string[]): TranscriptEntry[] {
  return kinds.map((kind, at): TranscriptEntry => {
    const place = { id: String(at), parentId: at === 0 ? null : String(at - 1), timestamp: TIME };
    const firstKeptEntryId = kind.slice(1);
    switch (kind[0]) {
      case "c":
        return { type: "compaction", summary: "s", tokensBefore: 1, firstKeptEntryId, ...place };
      case "r":
        return { type: "reset", ...(firstKeptEntryId !== "" && { firstKeptEntryId }), ...place };
      case "m":
        return { type: "message", message: { role: "user", content: String(at) }, ...place };
      default:
        return { type: "custom", customType: "x", ...place };
    }
  });
}

const facts = (sent: Iterable<string>, more: Partial<CallFacts> = {}): CallFacts => ({
  ...{ covered: new Map(), withheld: new Map(), engine: "test", madeByEngine: 0 },
  ...{ isGapped: false, unseen: null, placeOf: () => undefined },
  sent: new Map([...sent].map((id) => [id, AS_STORED])),
  ...more,
});

const told = (branch: TranscriptEntry[], call: CallFacts) =>
  planFates(branch, call).map(({ entryId, fate }) => `${entryId} ${Object.values(fate).join(" ")}`);

const LEFT = 'left-out engine engine "test" left it out and gave no reason';

describe("the fate of an entry", () => {
  it("is shown where it was sent, and the engine's doing where nobody said anything", () => {
    expect(told(branchOf("m", "x", "m"), facts(["2"]))).toEqual([`0 ${LEFT}`, "2 shown"]);
  });

  it("is a summary that stands in the call, and covers what the one before covered", () => {
    const branch = branchOf("m", "m", "c1", "m", "c3", "m");
    expect(told(branch, facts(["4", "3", "5"]))).toEqual([
      ...["0 summary 4", "1 summary 4", "3 shown", "5 shown"],
    ]);
    expect(told(branch.slice(0, 4), facts(["2", "1", "3"]))).toEqual([
      ...["0 summary 2", "1 shown", "3 shown"],
    ]);
  });

  it("is the engine's doing where it left the summary out, too", () => {
    expect(told(branchOf("m", "c", "m"), facts(["2"]))[0]).toBe(
      '0 left-out engine engine "test" left out the summary that holds it',
    );
  });

  it("is a person's doing after a reset, whatever is summarised later", () => {
    const branch = branchOf("m", "c", "m", "r", "m", "c", "m");
    const fates = told(branch, facts(["5", "6"]));
    expect(fates.map((fate) => fate.split(":")[0])).toEqual([
      "0 left-out person the session was reset after it; it stays in the transcript",
      "2 left-out person the session was reset after it; it stays in the transcript",
      "4 summary 5",
      "6 shown",
    ]);
  });

  it("is a placeholder's, a summary of the engine's, or what the host knows", () => {
    const cleared: Treatment = { cleared: "prune (compaction)", marks: [] };
    const call = facts([], {
      sent: new Map([["0", cleared]]),
      covered: new Map([["1", "S"]]),
      withheld: new Map([["2", { by: "policy", why: "a failed reply" }]]),
      madeByEngine: 1,
    });
    expect(told(branchOf("m", "m", "m", "m"), call)).toEqual([
      ...["0 cleared prune (compaction)", "1 summary S", "2 left-out policy a failed reply"],
      '3 left-out engine engine "test" left it out; what the engine wrote itself may tell of it',
    ]);
  });

  it("is nobody's for sure where a report is gone that may have told of somebody", () => {
    expect(told(branchOf("m"), facts([], { isGapped: true }))).toEqual([
      '0 left-out engine engine "test" left it out, unless a damaged report told of somebody else',
    ]);
  });

  it("is not known of what a program holds itself, and known of what it was never told", () => {
    const branch = branchOf("m", "m", "m", "m");
    const unseen = { why: "elsewhere", from: 2, before: "too early" };
    const call = facts(["3"], { unseen, placeOf: Number });
    expect(told(branch, call)).toEqual([
      ...["0 left-out program too early", "1 left-out program too early"],
      ...["2 unseen elsewhere", "3 shown"],
    ]);
    expect(told(branchOf("m", "r", "m"), facts(["2"], { unseen, placeOf: Number }))[0]).toMatch(
      /^0 left-out person/,
    );
  });

  it("keeps marks of shown entries beside it", () => {
    const shortened: Treatment = {
      cleared: null,
      marks: [{ kind: "shortened", from: 9, to: 3, rule: "cap" }],
    };
    const fates = planFates(branchOf("m"), facts([], { sent: new Map([["0", shortened]]) }));
    expect(countFates(fates)).toEqual({
      ...{
        all: 1,
        shown: 1,
        summary: 0,
        cleared: 0,
        leftOut: 0,
        unseen: 0,
        shortened: 1,
        changed: 0,
      },
    });
  });
});

/**
 * Transcripts that grow, are compacted, reset and gone back in, with any choice of what is sent.
 */
const steps = fc.array(
  fc.record({
    back: fc.integer({ min: 0, max: 3 }),
    add: fc.array(fc.constantFrom("m", "m", "m", "c", "r", "x"), { maxLength: 4 }),
    kept: fc.nat(20),
    send: fc.array(fc.nat(40), { maxLength: 12 }),
    clear: fc.array(fc.nat(40), { maxLength: 3 }),
    cover: fc.array(fc.nat(40), { maxLength: 3 }),
    knowsFrom: fc.option(fc.nat(20)),
  }),
  { minLength: 1, maxLength: 12 },
);

type Steps = typeof steps extends fc.Arbitrary<infer Value> ? Value : never;

/** Each call's branch and facts, and the counts a counter gave that walked through all of them. */
function walk(given: Steps) {
  const entries = new Map<string, TranscriptEntry>();
  const cursor = createBranchCursor((id) => entries.get(id));
  const counter = createFateCounter();
  let leaf: string | null = null;
  let sent = new Map<string, Treatment>();
  let isCovered = false;
  return given.map(({ back, add, kept: first, send, clear, cover, knowsFrom }) => {
    for (let times = 0; times < back && leaf !== null; times++) leaf = entries.get(leaf)!.parentId;
    const onBranch = () => [...entries.keys()];
    for (const kind of add) {
      const id = String(entries.size);
      const firstKeptEntryId = onBranch()[first % (entries.size + 1)] ?? "none";
      const [entry] = branchOf(kind === "c" || kind === "r" ? `${kind}${firstKeptEntryId}` : kind);
      entries.set(id, { ...entry!, id, parentId: leaf } as TranscriptEntry);
      leaf = id;
    }
    const kept = cursor.moveTo(leaf)!;
    const path = cursor.path.slice();
    const pick = (places: number[]) => places.flatMap((place) => path[place]?.id ?? []);
    const next = new Map<string, Treatment>(pick(send).map((id) => [id, AS_STORED]));
    for (const id of pick(clear)) next.set(id, { cleared: "rule", marks: [] });
    const ids = [...new Set([...sent.keys(), ...next.keys()])];
    const touched = new Set(ids.filter((id) => sent.get(id) !== next.get(id)));
    sent = next;
    const covered = new Map(pick(cover).map((id) => [id, "S"]));
    const isAll = covered.size > 0 || isCovered;
    isCovered = covered.size > 0;
    const from = Math.min(knowsFrom ?? 0, path.length);
    const unseen = knowsFrom === null ? null : { why: "elsewhere", from, before: "too early" };
    const placeOf = (id: string) => path.findIndex((entry) => entry.id === id);
    const call = facts([], { sent, covered, unseen, placeOf });
    const counts = counter.advance({
      ...{ path, kept, touched, facts: call, isAll },
      placeOf: cursor.placeOf,
    });
    return { path, call, counts };
  });
}

describe("in any call of any session", () => {
  it("each entry has one fate, and all fates together are all entries", () => {
    fc.assert(
      fc.property(steps, (given) => {
        for (const { path, call, counts } of walk(given)) {
          const fates = planFates(path, call);
          const said = path.filter(({ type }) => type === "message").map(({ id }) => id);
          expect(fates.map(({ entryId }) => entryId)).toEqual(said);
          const { all, shown, summary, cleared, leftOut, unseen } = counts;
          expect(shown + summary + cleared + leftOut + unseen).toBe(all);
          expect(counts).toEqual(countFates(fates));
        }
      }),
    );
  });

  it("nothing is hidden by two boundaries, and never by one that came before it", () => {
    fc.assert(
      fc.property(steps, (given) => {
        for (const { path } of walk(given))
          for (const [at, hidden] of planBoundaries(path).entries()) {
            if (hidden === undefined) continue;
            const by = path.findIndex(({ id }) => id === hidden.id);
            expect(by).toBeGreaterThan(at);
            expect(path[by]!.type).toBe(hidden.kind === "summary" ? "compaction" : "reset");
          }
      }),
    );
  });

  it("is hidden by what a person would find who plays boundary after boundary", () => {
    fc.assert(
      fc.property(steps, (given) => {
        for (const { path } of walk(given))
          expect(planBoundaries(path)).toEqual(playBoundaries(path));
      }),
    );
  });
});

/** The rule as it is said: each boundary hides what is before it, but for what it keeps. */
function playBoundaries(branch: readonly TranscriptEntry[]) {
  const hidden: ({ kind: "summary" | "reset"; id: string } | undefined)[] = branch.map(
    () => undefined,
  );
  for (const [at, entry] of branch.entries()) {
    if (entry.type !== "compaction" && entry.type !== "reset") continue;
    const kept = branch.findIndex(({ id }) => id === entry.firstKeptEntryId);
    const kind = entry.type === "compaction" ? "summary" : "reset";
    for (let index = 0; index < at; index++)
      if (kept >= 0 && index >= kept) hidden[index] = undefined;
      else if (hidden[index]?.kind !== "reset") hidden[index] = { kind, id: entry.id };
  }
  return hidden;
}

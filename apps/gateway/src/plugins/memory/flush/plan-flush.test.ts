import { UNDO_RECORD, undoCompaction } from "@clew/legacy-engine";
import { user } from "@clew/plugin-sdk/testing";
import {
  type NewTranscriptEntry,
  placeEntry,
  type TranscriptEntry,
  textOf,
} from "@clew/plugin-sdk/transcript";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { firstUnseen } from "./flush-history.ts";
import { type FlushMark, markEntry, markIn } from "./flush-marks.ts";
import { planFlushView } from "./flush-view.ts";
import { type FlushQuestion, planFlush } from "./plan-flush.ts";

type Step = FlushMark["state"] | "reset" | "message" | "compaction" | "undone" | "long" | "retry";

/** About 4,000 tokens. */
const LONG = "The tide at the rock was high. ".repeat(600);

/** An end is that of the newest flush that has none. */
function branchOf(steps: readonly Step[]): TranscriptEntry[] {
  const branch: TranscriptEntry[] = [];
  const open: string[] = [];
  for (const [at, step] of steps.entries()) {
    const id = `e${at}`;
    const place = { id, parentId: branch.at(-1)?.id ?? null, timestamp: "2026-01-01" };
    const of = isEnd(step) ? open.pop() : undefined;
    if (step === "begun") open.push(id);
    if (step !== "retry") branch.push(placeEntry(entryOf(step, of), place));
    else {
      const begun = markEntry({ state: "begun", plugin: "p", of: open[0]! });
      branch.push(placeEntry(begun, place));
      open.push(id);
    }
  }
  return branch;
}

const isEnd = (step: Step) => ["done", "nothing", "failed", "aborted"].includes(step);

function entryOf(step: Exclude<Step, "retry">, of?: string): NewTranscriptEntry {
  if (step === "message") return { type: "message", message: user("hello") };
  if (step === "long") return { type: "message", message: user(LONG) };
  if (step === "reset") return { type: "reset" };
  if (step === "undone") return { type: "custom", customType: UNDO_RECORD, data: {} };
  if (step !== "compaction")
    return markEntry({ state: step, plugin: "p", ...(of !== undefined && { of }) });
  return { type: "compaction", summary: "s", firstKeptEntryId: "e0", tokensBefore: 1 };
}

const ask = (steps: readonly Step[], given: Partial<FlushQuestion> = {}) => {
  const plan = planFlush({
    branch: branchOf(steps),
    ...{ kind: "user", compacts: false, ownsCompaction: false },
    runningId: null,
    ...{ messageTokens: 19_000, compactsAt: 20_000, transcriptBytes: 1_000 },
    ...{ softThresholdTokens: 4_000, forceFlushTranscriptBytes: 2 ** 21 },
    ...given,
  });
  if (plan.kind === "not") return plan.because;
  return plan.of === null ? "flush" : `flush up to ${plan.sees} for ${plan.of}`;
};

describe("a memory flush", () => {
  it.each<[string, Step[], Partial<FlushQuestion>, string]>([
    ["is due this near to a compaction", ["message"], { messageTokens: 16_000 }, "flush"],
    ["is not due before", ["message"], { messageTokens: 15_999 }, "early"],
    ["is not due where nothing is known of the size", ["message"], { compactsAt: null }, "early"],
    [
      "is due at a large file",
      ["message"],
      { messageTokens: 1, transcriptBytes: 2 ** 21 },
      "flush",
    ],
    [
      "is not due at a large file where that is switched off",
      ["message"],
      { messageTokens: 1, transcriptBytes: 2 ** 30, forceFlushTranscriptBytes: 0 },
      "early",
    ],
    [
      "is due for the size of a file once",
      ["message", "begun", "done", "compaction", "message"],
      { messageTokens: 1, transcriptBytes: 2 ** 30 },
      "early",
    ],
    [
      "is never due for heartbeats",
      ["message"],
      { kind: "heartbeat", compacts: true },
      "heartbeat",
    ],
    [
      "is due before a compaction, however small",
      ["message"],
      { messageTokens: 1, compacts: true },
      "flush",
    ],
    ["is not repeated", ["begun", "done", "message"], {}, "flushed"],
    [
      "is not repeated where there was nothing",
      ["begun", "nothing", "message"],
      { compacts: true },
      "flushed",
    ],
    ["comes again after a compaction", ["begun", "done", "compaction", "message"], {}, "flush"],
    [
      "comes again after one that was undone",
      ["message", "begun", "done", "undone", "message"],
      { compacts: true },
      "flush",
    ],
    ["comes again after one of the engine", ["begun", "done", "compacted", "message"], {}, "flush"],
    ["is tried again when it failed", ["begun", "failed", "message"], {}, "flush"],
    ["is tried again when its process died", ["begun", "message"], {}, "flush"],
    [
      "is given up after two",
      ["begun", "failed", "begun", "message"],
      { compacts: true },
      "given-up",
    ],
    [
      "is tried anew after a compaction",
      ["begun", "failed", "begun", "failed", "compaction", "message"],
      {},
      "flush",
    ],
    [
      "is made up for when its process died after the compaction",
      ["message", "begun", "compaction", "message"],
      { messageTokens: 1 },
      "flush up to 1 for e1",
    ],
    ["is not begun beside itself", ["begun", "message"], { runningId: "e0" }, "running"],
    [
      "is begun for the next compaction while one runs",
      ["begun", "compaction", "message"],
      { runningId: "e0" },
      "flush",
    ],
    [
      "is made up for twice at most",
      ["message", "begun", "compaction", "retry", "retry", "message"],
      { messageTokens: 1 },
      "early",
    ],
    [
      "is made up for once",
      ["message", "begun", "compaction", "retry", "done", "message"],
      { messageTokens: 1 },
      "early",
    ],
    [
      "of two that are owed the older one comes first",
      ["message", "begun", "compaction", "message", "begun", "compaction", "message"],
      { messageTokens: 1 },
      "flush up to 1 for e1",
    ],
    [
      "is not owed where another one of its compaction worked",
      ["begun", "begun", "done", "compaction", "message"],
      { messageTokens: 1 },
      "early",
    ],
    [
      "that is made up for stands for no other one",
      ["message", "begun", "compaction", "retry", "done", "message"],
      {},
      "flush",
    ],
    [
      "that ended after the compaction was the one before it",
      ["message", "begun", "compaction", "done", "message"],
      {},
      "flush",
    ],
    [
      "does not count what was stopped",
      ["message", "begun", "aborted", "begun", "aborted", "begun", "aborted"],
      {},
      "flush",
    ],
  ])("%s", (_, steps, given, said) => {
    expect(ask(steps, given)).toBe(said);
  });

  it("comes again after a compaction that failed, once enough is new (thread 15930)", () => {
    const before: Step[] = ["long", "begun", "done", "not-compacted"];
    expect(ask([...before, "message"], { compacts: true })).toBe("flushed");
    expect(ask([...before, "long", "long"], { compacts: true })).toBe("flushed");
    expect(ask([...before, "long", "long", "long", "long", "long"], { compacts: true })).toBe(
      "flush",
    );
  });

  it("of an engine that compacts unseen comes each time as much is new", () => {
    const owner = { ownsCompaction: true, messageTokens: 19_000, compactsAt: 16_000 };
    expect(ask(["long"], owner)).toBe("early");
    expect(ask(["long", "long"], owner)).toBe("flush");
    const flushed: Step[] = ["long", "long", "begun", "done"];
    expect(ask(flushed, owner)).toBe("flushed");
    expect(ask([...flushed, "long"], { ...owner, compacts: true })).toBe("flushed");
    expect(ask([...flushed, "long", "long"], owner)).toBe("flush");
    const failed: Step[] = ["long", "long", "begun", "failed", "begun", "failed"];
    expect(ask([...failed, "long"], owner)).toBe("given-up");
    expect(ask([...failed, "long", "long", "long", "long", "long"], owner)).toBe("flush");
  });

  it("leaves out what was said before a reset", () => {
    const [long, reset] = ["long", "reset"] as const;
    expect(firstUnseen(branchOf([long, reset, long, long]))).toBe(2);
    expect(firstUnseen(branchOf([long, "begun", "done", long, reset, long]))).toBe(5);
    expect(ask([long, reset], { compacts: true })).toBe("flushed");
  });

  it("is not begun where there is nothing to see, which would stand for one of use", () => {
    expect(ask([], { compacts: true })).toBe("flushed");
    expect(ask(["message", "begun", "done", "compaction"], { compacts: true })).toBe("flushed");
  });

  it("comes again long after one that the size of a file brought about", () => {
    const before: Step[] = ["long", "begun", "done", "long", "long", "long"];
    expect(ask(before, { compactsAt: 24_000, messageTokens: 22_000 })).toBe("flushed");
    expect(ask([...before, "long", "long"], { compactsAt: 24_000, messageTokens: 22_000 })).toBe(
      "flush",
    );
  });
});

/** What becomes of each flush, and how long each message is. */
const aLife = fc.record({
  tokens: fc.integer({ min: 50, max: 9_000 }),
  end: fc.constantFrom("done", "done", "nothing", "failed", "aborted", null),
  /** Turns until it ends. */
  takes: fc.constantFrom(0, 0, 0, 1, 3, 12),
  undo: fc.constantFrom(false, false, false, true),
  ownCompaction: fc.integer({ min: 0, max: 9 }).map((of) => of === 0),
});
type Life = typeof aLife extends fc.Arbitrary<infer Life> ? Life : never;
const lives = fc.array(aLife, { maxLength: 60 });

it("what another session said stays marked as its words where a flush sees it in part", () => {
  const provenance = { kind: "inter_session" as const, sourceSessionKey: "agent:main:x" };
  const message = { role: "user" as const, content: LONG, provenance };
  const entry = placeEntry(
    { type: "message", message },
    { id: "e0", parentId: null, timestamp: "2026-01-01" },
  );
  const { messages } = planFlushView([entry], { limitTokens: 200 });
  expect(messages).toMatchObject([{ role: "user", provenance }]);
  expect(textOf(messages[0]!)).toMatch(/^\(session agent:main:x, in part\) The tide/);
});

describe("everything that is said", () => {
  it("is seen by one flush that worked, once, whatever was compacted or undone meanwhile", async () => {
    await fc.assert(
      fc.asyncProperty(
        lives,
        fc.boolean(),
        fc.integer({ min: 2_000, max: 40_000 }),
        async (life, own, room) => {
          const compactsAt = 20_000;
          let branch: TranscriptEntry[] = [];
          let ids = 0;
          const add = (entry: NewTranscriptEntry) => {
            const place = { parentId: branch.at(-1)?.id ?? null, timestamp: "2026-01-01" };
            branch.push(placeEntry(entry, { id: `e${ids++}`, ...place }));
            return branch.at(-1)!.id;
          };
          const seen: string[] = [];
          let inView = 0;
          let running: { id: string; turns: number; end(): void } | null = null;
          const flush = (compacts: boolean, { end, takes }: Life) => {
            const planned = planFlush({
              ...{ branch, kind: "user", compacts, ownsCompaction: own },
              runningId: running?.id ?? null,
              ...{ messageTokens: inView, compactsAt, transcriptBytes: 0 },
              ...{ softThresholdTokens: 4_000, forceFlushTranscriptBytes: 0 },
            });
            if (planned.kind === "not" || (running !== null && !compacts)) return;
            const given = branch.slice(planned.from, planned.sees);
            const view = planFlushView(given, { limitTokens: room });
            const retry = planned.of === null ? {} : { of: planned.of };
            const of = add(markEntry({ state: "begun", plugin: "p", ...retry }));
            if (end === null || running !== null) return;
            const upTo = view.upTo === null ? {} : { upTo: view.upTo };
            const finish = () => {
              if (end === "done" || end === "nothing")
                seen.push(...view.messages.map((message) => /m\d+;/.exec(textOf(message))![0]));
              add(markEntry({ state: end, plugin: "p", of, ...upTo }));
              running = null;
            };
            running = { id: of, turns: takes, end: finish };
            if (takes === 0) finish();
          };
          const undo = () =>
            undoCompaction({
              nextId: () => `e${ids++}`,
              transcript: {
                branch: () => branch,
                graft: async ({ keep, entries }) => {
                  branch = [...branch.slice(0, keep), ...entries];
                },
              },
            });
          const compact = (given: Life) => {
            flush(true, given);
            if (own) return;
            add({ type: "compaction", summary: "s", firstKeptEntryId: "none", tokensBefore: 1 });
            inView = 0;
          };
          const said: string[] = [];
          const turn = async (given: Life) => {
            const { tokens, ownCompaction } = given;
            if (running !== null && running.turns-- === 0) running.end();
            said.push(`m${said.length};`);
            const text = `${said.at(-1)} ${"tide ".repeat(tokens)}`;
            add({ type: "message", message: user(text) });
            inView += tokens;
            if (inView > compactsAt || ownCompaction) compact(given);
            else flush(false, given);
            if (given.undo) await undo();
          };
          for (const given of life) await turn(given);
          const before = said.length;
          // Enough of them for the smallest room.
          for (let more = 0; more < 150 && !isSeenBefore(); more++)
            await turn({
              ...{ tokens: 3_000, end: "done", takes: 0, undo: false, ownCompaction: false },
            });
          function isSeenBefore() {
            return said.slice(0, before).every((each) => seen.includes(each));
          }
          expect(said.slice(0, before).filter((each) => !seen.includes(each))).toEqual([]);
          expect(new Set(seen).size).toBe(seen.length);
        },
      ),
      { numRuns: fc.readConfigureGlobal().numRuns! / 2 },
    );
  });
});

it("never comes twice between two compactions that went well, whatever happens", () => {
  const step = fc.constantFrom<Step>(
    ...(["message", "compaction", "compacted", "begun", "done", "nothing"] as const),
    ...(["failed", "aborted"] as const),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), fc.boolean(), (steps, compacts) => {
      const branch = branchOf(steps);
      const said = ask(steps, { compacts });
      const last = steps.findLastIndex((each) => each === "compaction" || each === "compacted");
      const stored = branch.flatMap((entry) => {
        const { state, of } = markIn(entry) ?? {};
        return (state === "done" || state === "nothing") && of !== undefined ? [of] : [];
      });
      const wasStored = stored.some((id) => Number(id.slice(1)) > last);
      if (said === "flush") expect(wasStored).toBe(false);
      else if (!said.startsWith("flush up to")) expect(["flushed", "given-up"]).toContain(said);
    }),
  );
});

// What an engine does when nobody waits for it any more changes nothing and ends nothing.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  cyclic,
  engineWith,
  type Lent,
  NEVER,
  result,
  user,
} from "./__fixtures__/hostile-parts.ts";
import { BOUND_MS, ordeal, ordealFaults, recordedOperations } from "./__fixtures__/ordeal.ts";
import { type StrayListener, watchStrays } from "./__fixtures__/strays.ts";

const refusal = (asked: Promise<unknown>) =>
  asked.then(
    (answer) => ({ answer }),
    () => "refused",
  );

describe("an engine whose call is over has no more say", () => {
  it.each<[string, () => unknown]>([
    ["returned", () => undefined],
    ["timed out", () => NEVER],
  ])("a rewrite is refused once its call %s", async (_how, answer) => {
    const late: (() => Promise<unknown>)[] = [];
    const answers: unknown[] = [];
    const done = await ordeal(
      ({ entryIds }) =>
        engineWith({
          afterTurn({ runtimeContext }: Lent) {
            const [entryId = ""] = entryIds();
            const asked = { replacements: [{ entryId, message: user("REWRITTEN") }] };
            late.push(async () => runtimeContext.rewriteTranscriptEntries?.(asked));
            return answer();
          },
        }),
      {
        afterwards: async () => {
          for (const rewrite of late) answers.push(await refusal(rewrite()));
        },
      },
    );
    expect(ordealFaults(done).join("\n")).toBe("");
    expect(answers.length).toBeGreaterThan(0);
    expect(answers).toEqual(answers.map(() => "refused"));
  });

  it.each<[string, () => unknown]>([
    ["returned", () => undefined],
    ["timed out", () => NEVER],
  ])("a model call is ended when the call that asked for it %s", async (_how, answer) => {
    const signals: (AbortSignal | undefined)[] = [];
    const done = await ordeal(
      () =>
        engineWith({
          afterTurn({ runtimeContext }: Lent) {
            const asked = { messages: [{ role: "user" as const, content: "Sum up." }] };
            void runtimeContext.llm?.complete(asked).catch(() => {});
            return answer();
          },
        }),
      {
        lends: {
          complete({ signal }) {
            signals.push(signal);
            return NEVER;
          },
        },
      },
    );
    expect(ordealFaults(done).join("\n")).toBe("");
    expect(signals.length).toBeGreaterThan(0);
    expect(signals.map((signal) => signal?.aborted)).toEqual(signals.map(() => true));
  });

  it("a call that timed out does not rewrite in the middle of the next turn", async () => {
    const attempts: Promise<unknown>[] = [];
    const done = await ordeal(
      ({ entryIds }) =>
        engineWith({
          async afterTurn({ runtimeContext }: Lent) {
            const [entryId = ""] = entryIds();
            await new Promise((resolve) => setTimeout(resolve, 2 * BOUND_MS));
            const asked = { replacements: [{ entryId, message: user("REWRITTEN") }] };
            const attempt = Promise.resolve(asked).then(runtimeContext.rewriteTranscriptEntries);
            attempts.push(refusal(attempt));
            await attempt;
          },
        }),
      { afterwards: () => new Promise((resolve) => setTimeout(resolve, 3 * BOUND_MS)) },
    );
    expect(ordealFaults(done).join("\n")).toBe("");
    expect(await Promise.all(attempts)).toEqual(attempts.map(() => "refused"));
    expect(attempts.length).toBeGreaterThan(0);
  });

  it("a rewrite is refused from the moment its call is told to stop", async () => {
    const answers: Promise<unknown>[] = [];
    const done = await ordeal(({ entryIds }) =>
      engineWith({
        maintain({ runtimeContext, abortSignal }: Lent & { abortSignal: AbortSignal }) {
          const rewrite = runtimeContext.rewriteTranscriptEntries;
          if (rewrite === undefined) return { changed: false, bytesFreed: 0, rewrittenEntries: 0 };
          const [entryId = ""] = entryIds();
          const asked = { replacements: [{ entryId, message: user("REWRITTEN") }] };
          abortSignal.addEventListener("abort", () => {
            answers.push(refusal(rewrite(asked)));
          });
          return NEVER;
        },
      }),
    );
    expect(ordealFaults(done).join("\n")).toBe("");
    expect(answers.length).toBeGreaterThan(0);
    expect(await Promise.all(answers)).toEqual(answers.map(() => "refused"));
  });

  it.each<[string, unknown]>([
    ["of a role nobody knows", { role: "banana", content: "x" }],
    ["without content", { role: "user", content: null }],
    ["that is no message", 7],
    ["in a circle", cyclic()],
  ])("a replacement %s is not written", async (_name, message) => {
    let attempts = 0;
    const done = await ordeal(({ entryIds }) =>
      engineWith({
        async maintain({ runtimeContext }: Lent) {
          const [entryId] = entryIds();
          const rewrite = runtimeContext.rewriteTranscriptEntries;
          if (rewrite !== undefined) {
            attempts++;
            await rewrite({ replacements: [{ entryId, message }] } as never);
          }
          return { changed: false, bytesFreed: 0, rewrittenEntries: 0 };
        },
      }),
    );
    expect(ordealFaults(done).join("\n")).toBe("");
    expect(attempts).toBeGreaterThan(0);
  });

  it("the signal of a compaction fires when its bound is reached", async () => {
    const signals: (AbortSignal | undefined)[] = [];
    const done = await ordeal(() =>
      engineWith({
        compact({ abortSignal }: { abortSignal?: AbortSignal }) {
          signals.push(abortSignal);
          return NEVER;
        },
      }),
    );
    expect(ordealFaults(done).join("\n")).toBe("");
    expect(signals.length).toBeGreaterThan(0);
    expect(signals.map((signal) => signal?.aborted)).toEqual(signals.map(() => true));
  });
});

describe("rejections that nobody awaits", () => {
  let strays: StrayListener;
  beforeEach(() => {
    strays = watchStrays();
  });
  afterEach(() => strays.stop());

  it.each<[string, () => unknown]>([
    ["errors", () => new Error("stray")],
    ["text", () => "stray"],
    ["nothing", () => undefined],
  ])("%s, from every method: the engine's own answers stand", async (_name, reason) => {
    const stray = <Result>(answer: Result): Result => {
      void Promise.reject(reason());
      return answer;
    };
    const done = await ordeal(() =>
      engineWith({
        bootstrap: () => stray({ bootstrapped: true }),
        assemble: ({ messages }: Lent) => stray(result(messages)),
        afterTurn: () => stray(undefined),
      }),
    );
    await strays.settled();
    expect(ordealFaults(done).join("\n")).toBe("");
    expect(recordedOperations(done)).toEqual([]);
    expect(strays.count()).toBeGreaterThan(0);
  });

  it("an answer that rejects after its bound is left to nobody", async () => {
    const rejections: (() => void)[] = [];
    const done = await ordeal(() =>
      engineWith({
        assemble: () =>
          new Promise((_, reject) => void rejections.push(() => reject(new Error("late")))),
      }),
    );
    for (const reject of rejections) reject();
    await strays.settled();
    expect(ordealFaults(done).join("\n")).toBe("");
    expect(rejections.length).toBeGreaterThan(0);
    expect(strays.count()).toBe(0);
  });
});

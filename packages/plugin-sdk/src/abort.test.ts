import { getEventListeners } from "node:events";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { abortable, linkSignals, sleep, within } from "./abort.ts";

const unhandled: unknown[] = [];
const note = (error: unknown) => void unhandled.push(error);

beforeEach(() => {
  unhandled.length = 0;
  process.on("unhandledRejection", note);
  vi.useFakeTimers();
});

afterEach(async () => {
  vi.useRealTimers();
  // Unhandled rejections are told after the microtasks of a turn of the event loop.
  await new Promise((resolve) => setTimeout(resolve));
  process.off("unhandledRejection", note);
  expect(unhandled).toEqual([]);
});

/** What a promise came to, as data. */
const outcome = (promise: Promise<unknown>) =>
  promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );

const listeners = (signal: AbortSignal) => getEventListeners(signal, "abort").length;

/** Work that ends after `ms`, well or badly; undefined = never. */
const workOf = (ms: number | undefined, fails: boolean) =>
  new Promise<string>((resolve, reject) => {
    if (ms !== undefined)
      setTimeout(() => (fails ? reject(new Error("work")) : resolve("work")), ms);
  });

describe("sleep", () => {
  it("resolves after its time and leaves nothing behind", async () => {
    const { signal } = new AbortController();
    const slept = outcome(sleep(1_000, signal));
    expect([vi.getTimerCount(), listeners(signal)]).toEqual([1, 1]);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await slept).toEqual({ value: undefined });
    expect([vi.getTimerCount(), listeners(signal)]).toEqual([0, 0]);
  });

  it("an abort wakes it with the signal's reason", async () => {
    const controller = new AbortController();
    const slept = outcome(sleep(1_000, controller.signal));
    controller.abort("enough");
    expect(await slept).toEqual({ error: "enough" });
    expect([vi.getTimerCount(), listeners(controller.signal)]).toEqual([0, 0]);
  });

  it("does not begin under an aborted signal", async () => {
    expect(await outcome(sleep(1_000, AbortSignal.abort("before")))).toEqual({ error: "before" });
    expect(vi.getTimerCount()).toBe(0);
  });

  it("waits for long where the platform's timer would fire at once", async () => {
    let awake = false;
    const controller = new AbortController();
    const slept = outcome(sleep(2 ** 40, controller.signal).then(() => (awake = true)));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(awake).toBe(false);
    controller.abort("enough");
    await slept;
  });
});

describe("abortable", () => {
  it("gives what the work gives, also when it throws at once", async () => {
    const { signal } = new AbortController();
    expect(await outcome(abortable(signal, () => "now"))).toEqual({ value: "now" });
    const error = new Error("at once");
    const thrown = abortable(signal, () => {
      throw error;
    });
    expect(await outcome(thrown)).toEqual({ error });
    expect(listeners(signal)).toBe(0);
  });

  it("does not call the work under an aborted signal", async () => {
    const work = vi.fn();
    expect(await outcome(abortable(AbortSignal.abort("before"), work))).toEqual({
      error: "before",
    });
    expect(work).not.toHaveBeenCalled();
  });

  it("an abort comes before the work's own answer to it", async () => {
    const controller = new AbortController();
    const result = outcome(
      abortable(
        controller.signal,
        () =>
          new Promise((resolve) =>
            controller.signal.addEventListener("abort", () => resolve("partial")),
          ),
      ),
    );
    controller.abort("stop");
    expect(await result).toEqual({ error: "stop" });
  });
});

describe("work that aborts its own signal", () => {
  it.each([
    ["and gives a value", () => "value"],
    [
      "and throws",
      () => {
        throw new Error("own");
      },
    ],
  ])("%s has no say any more", async (_, rest) => {
    const controller = new AbortController();
    const work = () => {
      controller.abort("stop");
      return rest();
    };
    expect(await outcome(abortable(controller.signal, work))).toEqual({ error: "stop" });
    expect(listeners(controller.signal)).toBe(0);
  });
});

describe("within", () => {
  it("whichever comes first decides, and nothing is left behind", async () => {
    const time = fc.option(fc.integer({ min: 0, max: 20 }), { nil: undefined });
    await fc.assert(
      fc.asyncProperty(
        time,
        fc.boolean(),
        time,
        fc.integer({ min: 1, max: 20 }),
        fc.array(fc.integer({ min: 1, max: 30 }), { maxLength: 4 }),
        async (workAt, fails, abortAt, bound, restarts) => {
          // Work, abort and bound never fall together: each has its own residue of three.
          const at = {
            work: workAt === undefined ? Number.POSITIVE_INFINITY : 6 * workAt,
            abort: abortAt === undefined ? Number.POSITIVE_INFINITY : 6 * abortAt + 2,
          };
          const boundMs = 6 * bound + 4;
          const controller = new AbortController();
          const late: boolean[] = [];
          const result = outcome(
            within(
              {
                boundMs,
                signal: controller.signal,
                onTimeout: () => "bound",
                onLate: ({ ok }) => late.push(ok),
              },
              (restart) => {
                for (const ms of restarts) setTimeout(restart, 6 * ms);
                return workOf(workAt === undefined ? undefined : at.work, fails);
              },
            ),
          );
          if (abortAt !== undefined) setTimeout(() => controller.abort("abort"), at.abort);
          let boundAt = boundMs;
          for (const ms of restarts.map((each) => 6 * each).sort((a, b) => a - b))
            if (ms < boundAt) boundAt = ms + boundMs;
          await vi.advanceTimersByTimeAsync(1_000);
          const first = Math.min(at.work, at.abort, boundAt);
          const work = fails ? { error: new Error("work") } : { value: "work" };
          expect(await result).toEqual(
            first === boundAt ? { value: "bound" } : first === at.abort ? { error: "abort" } : work,
          );
          expect(late).toEqual(first < at.work && workAt !== undefined ? [!fails] : []);
          expect([vi.getTimerCount(), listeners(controller.signal)]).toEqual([0, 0]);
        },
      ),
    );
  });

  it("a restart after the end waits for nothing", async () => {
    let restart = () => {};
    const work = (again: () => void) => {
      restart = again;
      return "work";
    };
    expect(await within({ boundMs: 50, onTimeout: () => "bound" }, work)).toBe("work");
    restart();
    expect(vi.getTimerCount()).toBe(0);
  });

  it("what is thrown when it is told of late work is ignored", async () => {
    const onLate = vi.fn(() => {
      throw new Error("late");
    });
    for (const fails of [false, true]) {
      const work = () => workOf(20, fails);
      const result = outcome(within({ boundMs: 10, onTimeout: () => "bound", onLate }, work));
      await vi.advanceTimersByTimeAsync(30);
      expect(await result).toEqual({ value: "bound" });
    }
    // A rejection that nobody handles would fail the run.
    expect(onLate).toHaveBeenCalledTimes(2);
  });

  it("what the bound throws is thrown", async () => {
    const error = new Error("too late");
    const result = outcome(
      within(
        {
          boundMs: 10,
          onTimeout: () => {
            throw error;
          },
        },
        () => new Promise(() => {}),
      ),
    );
    await vi.advanceTimersByTimeAsync(10);
    expect(await result).toEqual({ error });
  });

  it("a bound that no timer can hold is none", async () => {
    const result = outcome(
      within({ boundMs: Number.POSITIVE_INFINITY, onTimeout: () => "bound" }, () =>
        workOf(50, false),
      ),
    );
    await vi.advanceTimersByTimeAsync(50);
    expect(await result).toEqual({ value: "work" });
  });
});

describe("linked signals", () => {
  it("follow the first of several that is aborted, and forget the others", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 3 }), (one, two) => {
        const sources = Array.from({ length: 4 }, () => new AbortController());
        const linked = linkSignals(undefined, ...sources.map(({ signal }) => signal));
        sources[one]!.abort(one);
        sources[two]!.abort("later");
        expect(linked.signal.reason).toBe(one);
        expect(sources.map(({ signal }) => listeners(signal))).toEqual([0, 0, 0, 0]);
      }),
    );
  });

  it("are aborted at once under one that is", () => {
    const other = new AbortController();
    const linked = linkSignals(other.signal, AbortSignal.abort("before"));
    expect(linked.signal.reason).toBe("before");
    expect(listeners(other.signal)).toBe(0);
  });

  it("may be aborted by themselves, which aborts nobody else", () => {
    const source = new AbortController();
    const linked = linkSignals(source.signal);
    linked.abort("own");
    expect([linked.signal.reason, source.signal.aborted, listeners(source.signal)]).toEqual([
      "own",
      false,
      0,
    ]);
  });

  it("follow nobody after their release", () => {
    const source = new AbortController();
    const linked = linkSignals(source.signal);
    linked.release();
    expect(listeners(source.signal)).toBe(0);
    source.abort();
    expect(linked.signal.aborted).toBe(false);
  });
});

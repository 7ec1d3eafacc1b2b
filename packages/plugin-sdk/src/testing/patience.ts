// Waits for what may hang without taking a busy machine for a fault.

/** Bounds that are waited for at most, however little of a processor the process gets. */
export const MOST_BOUNDS = 15;
/** Who waits uses less than this share of the time. */
const IDLE_SHARE = 0.01;
/** A busy machine gives some processes no more than that, but not for so many bounds in a row. */
const IDLE_BOUNDS = 3;

/** What a wait looks like at the end of a bound, in ms of a processor. */
export interface Spent {
  /** Since the wait began. */
  inAll: number;
  /** Bounds in a row up to this one in which the process did next to nothing. */
  idle: number;
  /** Bounds that are over. */
  bounds: number;
}

/**
 * Pure. True: it will not end, since the process did nothing for some bounds, or worked a whole
 * one, or has had more than enough of them.
 */
export const isHopeless = ({ inAll, idle, bounds }: Spent, boundMs: number): boolean =>
  idle >= IDLE_BOUNDS || inAll >= boundMs || bounds >= MOST_BOUNDS;

/** Pure. Idle bounds in a row after one in which the process used `lately` ms of a processor. */
export const idleAfter = (idle: number, lately: number, boundMs: number): number =>
  lately < boundMs * IDLE_SHARE ? idle + 1 : 0;

/** Awaits `work` as long as there is hope; then `onTimeout` gives the result, or throws. */
export async function patiently<Result>(
  boundMs: number,
  onTimeout: () => Result,
  work: () => Result | PromiseLike<Result>,
): Promise<Result> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isOver = false;
  const late = new Promise<"late">((resolve) => {
    const began = processorMsLately(boundMs / STALE_BOUNDS);
    let before = began;
    let idle = 0;
    const wait = (bounds: number) => {
      timer = setTimeout(() => {
        const now = processorMs();
        idle = idleAfter(idle, now - before, boundMs);
        const spent = { inAll: now - began, idle, bounds };
        before = now;
        if (isOver) return;
        if (isHopeless(spent, boundMs)) resolve("late");
        else wait(bounds + 1);
      }, boundMs);
    };
    wait(1);
  });
  try {
    const first = await Promise.race([late, done(work)]);
    return first === "late" ? onTimeout() : first.result;
  } finally {
    isOver = true;
    clearTimeout(timer);
  }
}

const done = async <Result>(work: () => Result | PromiseLike<Result>) => ({ result: await work() });

/** A share of a bound in which what was asked before is as good. */
const STALE_BOUNDS = 1_000;
let asked = { at: Number.NEGATIVE_INFINITY, ms: 0 };

/** The same as of `ms` before, at most: asking takes longer than many a call. */
function processorMsLately(ms: number): number {
  const now = performance.now();
  if (now - asked.at > ms) asked = { at: now, ms: processorMs() };
  return asked.ms;
}

/** What the process used so far; where nothing tells, time on the wall stands for it. */
export function processorMs(): number {
  if (typeof globalThis.process?.cpuUsage !== "function") return performance.now();
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

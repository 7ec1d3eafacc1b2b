// Waits for what may hang without taking a busy machine for a fault.

/** Bounds that are waited for at most, however little of a processor the process gets. */
export const MOST_BOUNDS = 15;
/** Who waits uses less than this share of the time; who is kept waiting would use more. */
const IDLE_SHARE = 0.01;

/** What a wait looks like at the end of a bound, in ms of a processor. */
export interface Spent {
  /** Since the wait began. */
  inAll: number;
  /** Since the bound before. */
  lately: number;
  /** Bounds that are over. */
  bounds: number;
}

/**
 * Pure. True: it will not end, since the process did nothing for a bound, or worked a whole one,
 * or has had more than enough of them.
 */
export const isHopeless = ({ inAll, lately, bounds }: Spent, boundMs: number): boolean =>
  lately < boundMs * IDLE_SHARE || inAll >= boundMs || bounds >= MOST_BOUNDS;

/** Awaits `work` as long as there is hope; then `onTimeout` gives the result, or throws. */
export async function patiently<Result>(
  boundMs: number,
  onTimeout: () => Result,
  work: () => Result | PromiseLike<Result>,
): Promise<Result> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isOver = false;
  const late = new Promise<"late">((resolve) => {
    const began = processorMs();
    let before = began;
    const wait = (bounds: number) => {
      timer = setTimeout(() => {
        const now = processorMs();
        const spent = { inAll: now - began, lately: now - before, bounds };
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

/** What the process used so far; where nothing tells, time on the wall stands for it. */
export function processorMs(): number {
  if (typeof globalThis.process?.cpuUsage !== "function") return performance.now();
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

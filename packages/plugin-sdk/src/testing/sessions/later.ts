// Lets time pass for an engine without waiting.

/** How far a clock is ahead, ms. */
export interface Clock {
  ms: number;
}

interface Clocks {
  getStore(): Clock | undefined;
  run<Result>(clock: Clock, work: () => Result): Result;
}

let clocks: Clocks | undefined;
let real: DateConstructor | undefined;
/** Who lets time pass at this moment. */
let users = 0;

/** Runs `work` while each `Date` that it asks shows a time `ms` ahead. */
export const later = <Result>(ms: number, work: () => Promise<Result>): Promise<Result> =>
  byClock({ ms: ms + (clocks?.getStore()?.ms ?? 0) }, work);

/** Runs `work` while each `Date` that it asks is as far ahead as `clock` says by then. */
export async function byClock<Result>(clock: Clock, work: () => Promise<Result>): Promise<Result> {
  clocks ??= new (await import("node:async_hooks")).AsyncLocalStorage<Clock>();
  real ??= install();
  users++;
  try {
    return await clocks.run(clock, work);
  } finally {
    users--;
    if (users === 0 && real !== undefined) {
      globalThis.Date = real;
      real = undefined;
    }
  }
}

/** The clock that was there before. */
function install(): DateConstructor {
  const before = globalThis.Date;
  const now = () => before.now() + (clocks?.getStore()?.ms ?? 0);
  globalThis.Date = new Proxy(before, {
    get: (target, name) => (name === "now" ? now : Reflect.get(target, name)),
    apply: () => new before(now()).toString(),
    construct: (target, args, made) =>
      Reflect.construct(target, args.length === 0 ? [now()] : args, made),
  });
  return before;
}

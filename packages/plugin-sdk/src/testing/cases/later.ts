// Lets time pass for an engine without waiting.

let real: DateConstructor | undefined;
/** Who lets time pass at this moment. */
let users = 0;

/** Runs `work` while each `Date` shows a time `ms` ahead; all at the same time give the same. */
export async function later<Result>(ms: number, work: () => Promise<Result>): Promise<Result> {
  real ??= ahead(ms);
  users++;
  try {
    return await work();
  } finally {
    users--;
    if (users === 0 && real !== undefined) {
      globalThis.Date = real;
      real = undefined;
    }
  }
}

/** The clock that was there before. */
function ahead(ms: number): DateConstructor {
  const before = globalThis.Date;
  const now = () => before.now() + ms;
  globalThis.Date = new Proxy(before, {
    get: (target, name) => (name === "now" ? now : Reflect.get(target, name)),
    apply: () => new before(now()).toString(),
    construct: (target, args, made) =>
      Reflect.construct(target, args.length === 0 ? [now()] : args, made),
  });
  return before;
}

// Collects errors that an engine leaves where nothing can catch them, while cases run.
import type { AsyncLocalStorage } from "node:async_hooks";
import { isAbort } from "../errors.ts";
import { describe } from "./engine-call.ts";

/** What one engine under test left, in sentences. */
export type Strays = string[];

const KINDS = {
  unhandledRejection: "a promise was rejected and nobody waited for it",
  uncaughtException: "an error was thrown where nothing can catch it",
} as const;
type Kind = keyof typeof KINDS;

let owner: AsyncLocalStorage<Strays> | undefined;
let watching = 0;
/** Whose everything is that has lost its context. Undefined: nobody's. */
let heir: Strays | undefined;

/** From here on whatever is left in this process is the engine's: nothing else runs in it. */
export function blameForAll(strays: Strays): void {
  heir = strays;
  listen();
}

/** Runs `work`; what it leaves is added to `strays`, and ends no process meanwhile. */
export async function collectStrays<Result>(
  strays: Strays,
  work: () => Promise<Result>,
): Promise<Result> {
  if (owner === undefined) {
    const { AsyncLocalStorage } = await import("node:async_hooks");
    owner ??= new AsyncLocalStorage<Strays>();
  }
  listen();
  try {
    return await owner.run(strays, work);
  } finally {
    await settled();
    if (--watching === 0) for (const kind of kinds) process.off(kind, listeners[kind]);
  }
}

function listen(): void {
  if (watching++ === 0) for (const kind of kinds) process.on(kind, listeners[kind]);
}

/** When the process has told of what was left by now. */
const settled = async () => {
  for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setTimeout(resolve, 1));
};

const kinds = Object.keys(KINDS) as Kind[];

const take = (kind: Kind) => (error: unknown) => {
  const strays = owner?.getStore() ?? heir;
  if (strays === undefined) return notOurs(kind, error);
  // A call that was given up leaves such behind: an abort is nobody's failure.
  if (!isAbort(error)) strays.push(`${KINDS[kind]}: ${told(error)}`);
};

const listeners: Readonly<Record<Kind, (error: unknown) => void>> = {
  unhandledRejection: take("unhandledRejection"),
  uncaughtException: take("uncaughtException"),
};

/** What is no error is told by what it holds. */
function told(error: unknown): string {
  if (typeof error !== "object" || error === null || error instanceof Error) return describe(error);
  try {
    return describe(JSON.stringify(error));
  } catch {
    return describe(error);
  }
}

/** Without us the process would have ended, unless somebody else listens. */
function notOurs(kind: Kind, error: unknown): void {
  if (process.listenerCount(kind) > 1) return;
  for (const each of kinds) process.off(each, listeners[each]);
  setImmediate(() => {
    throw error;
  });
}

// Conformance cases about what an engine leaves in the process it runs in.
import { sleep } from "../../abort.ts";
import { type ConformanceCase, NotApplicable } from "../case.ts";
import type { CaseContext } from "../case-context.ts";
import { call, check } from "../engine-call.ts";
import { type Begun, listenersOfProcess, openFilesIn, stillLeft, watchBegun } from "../held.ts";
import { talk } from "./observe.ts";

/** What an engine started and nobody waits for may take so long to fail, ms. */
const PATIENCE_MS = 50;

export const processCases: readonly ConformanceCase[] = [
  {
    id: "process/strays",
    group: "process",
    title: "leaves no error where nothing can catch it, in this case and in all before it",
    rule: "An error that nothing can catch is a failure too: a promise that nobody waits for, a timer.",
    async run(context) {
      const session = context.session();
      for (let turn = 0; turn < 2; turn++)
        await session.deliver(context.engine, talk("a", { turns: 2, tools: 1 }));
      await session.assemble(context.engine);
      await session.compact(context.engine);
      await sleep(PATIENCE_MS);
      const { strays } = context;
      check(strays.length === 0, `${times(strays.length)}: ${strays[0]}.`);
    },
  },
  {
    id: "process/held",
    group: "process",
    title: "holds nothing more from turn to turn, and lets go of all of it when it is disposed of",
    rule: "No file stays open, and nothing that keeps the process from ending.",
    async run(context) {
      const begun = await watchBegun();
      if (begun === undefined) throw new NotApplicable("runtimes that tell what is begun in them");
      try {
        await begun.within(() =>
          context.beside(async (fresh) => expectNoGrowth(fresh, begun), { letsGo: true }),
        );
        const left = await stillLeft(begun.alive);
        check(left === undefined, `It keeps the process from ending after its end, by ${left}.`);
      } finally {
        begun.end();
      }
    },
  },
];

/** Turns after which an engine holds what it needs. */
const WARM = 4;
const TURNS = 16;
/** As many more are no accident. */
const MANY = 8;

async function expectNoGrowth(context: CaseContext, begun: Begun): Promise<void> {
  const session = context.session();
  const { engine } = context;
  const abort = new AbortController();
  const turns = async (count: number) => {
    for (let turn = 0; turn < count; turn++) {
      await session.deliver(engine, talk("a", { turns: 1, tools: 1 }));
      await session.assemble(engine);
      if (typeof engine.maintain === "function")
        await call(engine, "maintain", { ...session.ref, abortSignal: abort.signal });
    }
  };
  const listeners = await listenersOf(abort.signal);
  const counted = {
    "files of its folder": async () => (await openFilesIn(context.storage.agentDir)).length,
    "timers and other handles": async () => begun.count(),
    "listeners of the process": async () => listenersOfProcess(),
    "listeners of the signal that it is lent": async () => listeners(),
  };
  await turns(WARM);
  // What is over is told of a little later.
  await sleep(PATIENCE_MS);
  const before = new Map<string, number>();
  for (const [what, count] of Object.entries(counted)) before.set(what, await count());
  await turns(TURNS);
  for (const [what, count] of Object.entries(counted)) {
    const grown = async () => {
      const more = (await count()) - before.get(what)!;
      return more < MANY ? undefined : more;
    };
    const more = await stillLeft(grown);
    check(more === undefined, `After ${TURNS} more turns it holds ${more} more ${what}.`);
  }
}

async function listenersOf(signal: AbortSignal): Promise<() => number> {
  const { getEventListeners } = await import("node:events");
  return () => getEventListeners(signal, "abort").length;
}

const times = (count: number) => (count === 1 ? "Once" : `${count} times; the first time`);

// Conformance cases about what an engine leaves in the process it runs in.
import { sleep } from "../../abort.ts";
import type { ConformanceCase } from "../case.ts";
import { check } from "../engine-call.ts";
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
];

const times = (count: number) => (count === 1 ? "Once" : `${count} times; the first time`);

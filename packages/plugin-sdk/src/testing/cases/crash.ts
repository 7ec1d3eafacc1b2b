// Conformance cases about engines made again over what a killed process had stored.
import { type ConformanceCase, ownersOnly } from "../case.ts";
import { check } from "../engine-call.ts";
import { expectNothingTwice } from "./idempotence.ts";
import { expectNothingLostWithin, expectNothingUndone } from "./killed-within.ts";
import { talk, turnOf } from "./observe.ts";

export const crashCases: readonly ConformanceCase[] = [
  {
    id: "crash/same-assembly",
    group: "crash",
    title: "assembles the same history in the same way after a restart",
    rule: "The same history gives the same messages, after a restart too, so that prompt caches hold.",
    async run(context) {
      const session = context.session();
      await session.deliver(context.engine, talk("a", { turns: 6, tools: 1 }));
      const before = await session.assemble(context.engine);
      const engine = await context.reopen();
      if (typeof engine.bootstrap === "function") await session.bootstrap(engine);
      const after = await session.assemble(engine);
      check(
        JSON.stringify(after.messages) === JSON.stringify(before.messages),
        "After a restart the same history is assembled otherwise.",
      );
    },
  },
  {
    id: "crash/redelivery",
    group: "crash",
    title: "shows nothing twice when a turn is told again after a restart",
    rule: "A turn told again, also after a crash, adds nothing.",
    async run(context) {
      const session = context.session();
      await session.deliver(context.engine, turnOf("a", 1, { tools: 1 }));
      await session.deliver(context.engine, turnOf("a", 2, { tools: 1 }));
      const engine = await context.reopen();
      if (typeof engine.bootstrap === "function") await session.bootstrap(engine);
      await session.tell(engine, 4);
      await expectNothingTwice(context, "restarted and told of the last turn again", engine);
    },
  },
  {
    id: "crash/killed-within",
    group: "crash",
    title:
      "has all that it was told before, and a turn told again since a kill came within the first time",
    rule: "A turn told again, also after a crash, adds nothing.",
    async run(context) {
      const session = context.session();
      await session.write(turnOf("a", 1, { tools: 1 }));
      await expectNothingLostWithin(context, "being told of it", (engine) =>
        session.tell(engine, 0),
      );
      // What was told before is nowhere else on a host that keeps no file.
      const { sessionId, sessionKey } = session.ref;
      session.keep(turnOf("a", 2, { tools: 1 }));
      await expectNothingLostWithin(context, "being told of the next one", (engine) =>
        session.tell(engine, 4, { sessionId, sessionKey }),
      );
    },
  },
  {
    id: "crash/killed-in-compaction",
    group: "crash",
    title:
      "shows the session as it was compacted before, when it is killed while it compacts again",
    rule: "What was compacted stays so after a restart.",
    ...ownersOnly,
    async run(context) {
      const session = context.session();
      const turns = talk("a", { turns: 16, tools: 1, toolResultChars: 1_200 });
      await session.deliver(context.engine, turns);
      await session.compact(context.engine);
      await session.maintain(context.engine);
      await session.deliver(
        context.engine,
        talk("b", { turns: 4, tools: 1, toolResultChars: 900 }),
      );
      await expectNothingUndone(context, session);
    },
  },
  {
    id: "crash/compaction-survives",
    group: "crash",
    title: "still knows after a restart what it had compacted",
    rule: "What was compacted stays so after a restart.",
    ...ownersOnly,
    async run(context) {
      const session = context.session();
      await session.deliver(
        context.engine,
        talk("a", { turns: 16, tools: 1, toolResultChars: 1_200 }),
      );
      await session.compact(context.engine);
      const before = await session.assemble(context.engine);
      const after = await session.assemble(await context.reopen());
      check(
        JSON.stringify(after.messages) === JSON.stringify(before.messages),
        "A restart undid or changed what compact() had done.",
      );
    },
  },
];

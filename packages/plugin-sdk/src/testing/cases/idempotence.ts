// Conformance cases about the same thing delivered twice.
import { type ConformanceCase, onlyWith } from "../case.ts";
import type { CaseContext } from "../case-context.ts";
import { call, check } from "../engine-call.ts";
import { recordOf } from "../sessions/record.ts";
import { repeated, talk, turnOf } from "./observe.ts";

export const idempotenceCases: readonly ConformanceCase[] = [
  {
    id: "idempotence/ingest-twice",
    group: "idempotence",
    title: "answers { ingested: false } to a message it has",
    rule: "The same message may come twice: answer `{ ingested: false }`",
    async run(context) {
      const session = context.session();
      const { sessionId, sessionKey } = session.ref;
      await session.write(talk("a", { turns: 1 }));
      const deliver = () =>
        call(context.engine, "ingest", { sessionId, sessionKey, message: session.history()[0]! });
      await deliver();
      check((await deliver())?.ingested !== true, "ingest() took the same message a second time.");
    },
  },
  {
    id: "idempotence/ingest-at-once",
    group: "idempotence",
    title: "takes a message once that is delivered several times at once",
    rule: "The same message may come twice: answer `{ ingested: false }`",
    async run(context) {
      const session = context.session();
      const { sessionId, sessionKey } = session.ref;
      await session.write(talk("a", { turns: 1 }));
      const deliver = () =>
        call(context.engine, "ingest", { sessionId, sessionKey, message: session.history()[0]! });
      const answers = await Promise.all([deliver(), deliver(), deliver()]);
      check(
        answers.filter((answer) => answer?.ingested).length <= 1,
        "ingest() took one message more than once when asked at once.",
      );
    },
  },
  {
    id: "idempotence/ingest-batch-twice",
    group: "idempotence",
    title: "counts nothing new in a batch it has",
    rule: "How many of them were new to the engine.",
    ...onlyWith("ingestBatch"),
    async run(context) {
      const session = context.session();
      const { sessionId, sessionKey } = session.ref;
      await session.write(talk("a", { turns: 3, tools: 1 }));
      const deliver = () =>
        call(context.engine, "ingestBatch", { sessionId, sessionKey, messages: session.history() });
      await deliver();
      const again = await deliver();
      check(
        !(again?.ingestedCount > 0),
        `ingestBatch() took ${again?.ingestedCount} messages of a batch it had already.`,
      );
    },
  },
  {
    id: "idempotence/turn-twice",
    group: "idempotence",
    title: "shows nothing twice when a turn is told twice",
    rule: "A turn told again, also after a crash, adds nothing.",
    async run(context) {
      const session = context.session();
      await session.deliver(context.engine, turnOf("a", 1, { tools: 1 }));
      await session.deliver(context.engine, turnOf("a", 2, { tools: 1 }));
      await session.tell(context.engine, 4);
      await expectNothingTwice(context, "told of the same turn twice");
    },
  },
  {
    id: "idempotence/told-again",
    group: "idempotence",
    title: "holds nothing twice when older turns, or all of them, are told again, at once or later",
    rule: "A turn told again, also after a crash, adds nothing.",
    async run(context) {
      const session = context.session();
      const { sessionId, sessionKey } = session.ref;
      for (const turn of [1, 2, 3])
        await session.deliver(context.engine, turnOf("a", turn, { tools: 1 }));
      const record = () => recordOf(context.engine, { sessionId, sessionKey });
      const before = JSON.stringify(await record());
      await session.tell(context.engine, 0);
      await session.tell(context.engine, 4);
      await session.tell(context.engine, 0);
      check(
        JSON.stringify(await record()) === before,
        "Told again of all turns, it has something else of them.",
      );
      const start = session.history().length;
      await session.write(turnOf("a", 4, { tools: 1 }));
      await Promise.all([
        session.tell(context.engine, start),
        session.tell(context.engine, start),
        session.tell(context.engine, 0),
      ]);
      const twice = repeated(await record());
      check(twice === undefined, `Told of a turn three times at once, it holds ${twice} twice.`);
    },
  },
  {
    id: "idempotence/bootstrap-twice",
    group: "idempotence",
    title: "imports nothing twice when a transcript is bootstrapped twice",
    rule: "the same transcript twice imports nothing twice",
    ...onlyWith("bootstrap"),
    async run(context) {
      const session = context.session();
      await session.write(talk("a", { turns: 4, tools: 1 }));
      await session.bootstrap(context.engine);
      const before = await session.assemble(context.engine);
      const again = await session.bootstrap(context.engine);
      check(
        !((again?.importedMessages ?? 0) > 0),
        `The second bootstrap() imported ${again?.importedMessages} messages again.`,
      );
      await expectNothingTwice(context, "bootstrapped twice");
      const after = await session.assemble(context.engine);
      check(
        JSON.stringify(after.messages) === JSON.stringify(before.messages),
        "A second bootstrap() changed the assembly.",
      );
    },
  },
];

/** With the host's history, and with none: then an engine answers from what it recorded. */
export async function expectNothingTwice(
  context: CaseContext,
  what: string,
  engine = context.engine,
): Promise<void> {
  for (const messages of [context.session().history(), []]) {
    const twice = repeated((await context.session().assemble(engine, { messages })).messages);
    check(twice === undefined, `After it was ${what}, the assembly holds ${twice} twice.`);
  }
}

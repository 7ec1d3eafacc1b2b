// Conformance cases about sessions that must know nothing of each other.
import type { ConformanceCase } from "../case.ts";
import type { CaseContext } from "../case-context.ts";
import { check } from "../engine-call.ts";
import { mentions, turnOf } from "./observe.ts";

const NAMES = ["anna", "boris", "chandra"];
/** One name for whoever makes names of files of them too simply. */
const ALIKE = ["an:na", "an-na", "an_na", "an.na", "anna"];

export const isolationCases: readonly ConformanceCase[] = [
  {
    id: "isolation/interleaved",
    group: "isolation",
    title: "shows a session nothing of another one, turn by turn",
    rule: "No session shows anything of another.",
    async run(context) {
      for (const turn of [1, 2, 3])
        for (const name of NAMES)
          await context.session(name).deliver(context.engine, turnOf(name, turn, { tools: 1 }));
      await expectApart(context);
    },
  },
  {
    id: "isolation/at-once",
    group: "isolation",
    title: "shows a session nothing of another one when they speak at once",
    rule: "No session shows anything of another.",
    async run(context) {
      for (const turn of [1, 2, 3])
        await Promise.all(
          NAMES.map((name) =>
            context.session(name).deliver(context.engine, turnOf(name, turn, { tools: 1 })),
          ),
        );
      await expectApart(context);
    },
  },
  {
    id: "isolation/alike",
    group: "isolation",
    title: "keeps sessions apart whose ids differ in a sign only",
    rule: "No session shows anything of another.",
    async run(context) {
      for (const turn of [1, 2])
        for (const name of ALIKE)
          await context.session(name).deliver(context.engine, turnOf(name, turn));
      await expectApart(context, ALIKE);
    },
  },
];

async function expectApart(context: CaseContext, names = NAMES): Promise<void> {
  for (const name of names) {
    const session = context.session(name);
    for (const messages of [session.history(), []]) {
      const assembled = await session.assemble(context.engine, { messages });
      for (const other of names.filter((one) => one !== name))
        check(
          !mentions(assembled.messages, other),
          "The assembly of one session holds a message of another one.",
        );
    }
  }
}

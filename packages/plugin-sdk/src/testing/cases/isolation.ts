// Conformance cases about sessions that must know nothing of each other.
import type { ConformanceCase } from "../case.ts";
import type { CaseContext } from "../case-context.ts";
import { check } from "../engine-call.ts";
import { mentions, turnOf } from "./observe.ts";

const NAMES = ["anna", "boris", "chandra"];

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
];

async function expectApart(context: CaseContext): Promise<void> {
  for (const name of NAMES) {
    const session = context.session(name);
    for (const messages of [session.history(), []]) {
      const assembled = await session.assemble(context.engine, { messages });
      for (const other of NAMES.filter((one) => one !== name))
        check(
          !mentions(assembled.messages, other),
          "The assembly of one session holds a message of another one.",
        );
    }
  }
}

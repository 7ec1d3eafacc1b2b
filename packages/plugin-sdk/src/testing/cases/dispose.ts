// Conformance cases about `dispose`, which may come after any operation.
import { type ConformanceCase, onlyWith } from "../case.ts";
import type { CaseContext } from "../case-context.ts";
import { check, describe } from "../engine-call.ts";
import { talk, turnOf } from "./observe.ts";

export const disposeCases: readonly ConformanceCase[] = [
  {
    id: "dispose/use-again",
    group: "dispose",
    title: "works again after dispose: some hosts dispose after every operation",
    rule: "so the engine must work again afterwards",
    ...onlyWith("dispose"),
    async run(context) {
      const session = context.session();
      await session.deliver(context.engine, talk("a", { turns: 3, tools: 1 }));
      const before = await session.assemble(context.engine);
      await dispose(context);
      const after = await session.assemble(context.engine);
      check(
        JSON.stringify(after.messages) === JSON.stringify(before.messages),
        "After dispose() the same history is assembled otherwise.",
      );
      await session.deliver(context.engine, turnOf("a", 4, { tools: 1 }));
      await session.compact(context.engine);
    },
  },
  {
    id: "dispose/twice",
    group: "dispose",
    title: "may be disposed twice, and before anything happened",
    rule: "other hosts call it after each operation",
    ...onlyWith("dispose"),
    async run(context) {
      await dispose(context);
      await dispose(context);
    },
  },
];

async function dispose({ engine }: CaseContext): Promise<void> {
  try {
    await engine.dispose?.();
  } catch (error) {
    check(false, `dispose() threw: ${describe(error)}`);
  }
}

// Conformance cases about child sessions.
import { type ConformanceCase, onlyWith } from "../case.ts";
import type { CaseContext } from "../case-context.ts";
import { call, check } from "../engine-call.ts";
import { talk } from "./observe.ts";

export const subagentCases: readonly ConformanceCase[] = [
  {
    id: "subagents/preparation",
    group: "subagents",
    title: "prepareSubagentSpawn answers nothing or a rollback, for forked and isolated children",
    rule: "Before a child session starts.",
    ...onlyWith("prepareSubagentSpawn"),
    async run(context) {
      await context.session("parent").deliver(context.engine, talk("parent", { turns: 2 }));
      for (const contextMode of ["isolated", "fork"] as const) {
        const preparation = await prepare(context, `child-${contextMode}`, contextMode);
        check(
          preparation === undefined || typeof preparation?.rollback === "function",
          `prepareSubagentSpawn() for "${contextMode}" answered neither nothing nor { rollback() }.`,
        );
      }
    },
  },
  {
    id: "subagents/rollback",
    group: "subagents",
    title: "a rollback undoes the preparation: the parent is as it was",
    rule: "the returned rollback undoes the preparation",
    ...onlyWith("prepareSubagentSpawn"),
    async run(context) {
      const parent = context.session("parent");
      await parent.deliver(context.engine, talk("parent", { turns: 3, tools: 1 }));
      const seen = async () =>
        JSON.stringify([
          await parent.assemble(context.engine),
          await parent.assemble(context.engine, { messages: [] }),
        ]);
      const before = await seen();
      await rollBack(await prepare(context, "child", "fork"));
      check(
        (await seen()) === before,
        "After a rollback the parent is assembled otherwise than before the preparation.",
      );
    },
  },
  {
    id: "subagents/again",
    group: "subagents",
    title: "a child can be prepared again after a rollback",
    rule: "Called at most once, when anything after the preparation fails.",
    ...onlyWith("prepareSubagentSpawn"),
    async run(context) {
      await context.session("parent").deliver(context.engine, talk("parent", { turns: 1 }));
      await rollBack(await prepare(context, "child", "isolated"));
      await rollBack(await prepare(context, "child", "isolated"));
    },
  },
  {
    id: "subagents/unknown-child",
    group: "subagents",
    title: "onSubagentEnded takes children it never prepared, for every reason",
    rule: "must not assume that prepareSubagentSpawn ran in this process",
    ...onlyWith("onSubagentEnded"),
    async run(context) {
      for (const reason of ["deleted", "completed", "swept", "released"] as const)
        await call(context.engine, "onSubagentEnded", {
          childSessionKey: `${context.session("stranger").ref.sessionKey}-${reason}`,
          reason,
        });
    },
  },
];

function prepare(context: CaseContext, child: string, contextMode: "isolated" | "fork") {
  const [parent, of] = [context.session("parent").ref, context.session(child).ref];
  return call(context.engine, "prepareSubagentSpawn", {
    parentSessionKey: parent.sessionKey,
    parentSessionId: parent.sessionId,
    parentSessionFile: parent.sessionFile,
    childSessionKey: of.sessionKey,
    childSessionId: of.sessionId,
    contextMode,
  });
}

async function rollBack(preparation: Awaited<ReturnType<typeof prepare>>): Promise<void> {
  try {
    if (typeof preparation?.rollback === "function") await preparation.rollback();
  } catch {
    check(false, "rollback() threw.");
  }
}

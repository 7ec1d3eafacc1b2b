// Conformance cases about child sessions.
import { type ConformanceCase, onlyWith } from "../case.ts";
import type { CaseContext } from "../case-context.ts";
import { call, check } from "../engine-call.ts";
import { recordOf } from "../sessions/record.ts";
import { mentions, talk } from "./observe.ts";

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
    id: "subagents/rollback-undoes",
    group: "subagents",
    title: "a rollback leaves parent and child as they were, whether or not the child has an id",
    rule: "the returned rollback undoes the preparation",
    ...onlyWith("prepareSubagentSpawn"),
    async run(context) {
      await context
        .session("parent")
        .deliver(context.engine, talk("parent", { turns: 3, tools: 1 }));
      for (const contextMode of ["fork", "isolated"] as const)
        for (const told of TOLD) {
          const child = `child-${contextMode}-${told}`;
          const before = [await kept(context, "parent"), await kept(context, child)];
          await rollBack(await prepare(context, child, contextMode, told));
          for (const [at, name] of ["parent", child].entries())
            check(
              (await kept(context, name)) === before[at],
              `After the rollback of ${contextMode === "fork" ? "a fork" : "an isolated child"} ${at === 0 ? "the parent" : "the child"} has not what it had before.`,
            );
        }
    },
  },
  {
    id: "subagents/apart",
    group: "subagents",
    title: "an isolated child shows nothing of its parent, nor the parent anything of a child",
    rule: "No session shows anything of another.",
    ...onlyWith("prepareSubagentSpawn"),
    async run(context) {
      const { engine } = context;
      await context.session("parent").deliver(engine, talk("parent", { turns: 2 }));
      await prepare(context, "child", "isolated");
      await prepare(context, "sister", "fork");
      await context.session("child").deliver(engine, talk("child", { turns: 2 }));
      await context.session("sister").deliver(engine, talk("sister", { turns: 2 }));
      for (const [name, others] of APART)
        for (const messages of [context.session(name).history(), []]) {
          const shown = await context.session(name).assemble(engine, { messages });
          for (const other of others)
            check(
              !mentions(shown.messages, other),
              `The assembly of the ${name} holds a message of the ${other}.`,
            );
        }
    },
  },
  {
    id: "subagents/kept",
    group: "subagents",
    title: "keeps what a child said whose session stays, and all of other sessions",
    rule: 'Only a child that was "deleted" is forgotten.',
    ...onlyWith("onSubagentEnded"),
    async run(context) {
      let { engine } = context;
      const names = ["parent", "child", "child-2", "child:2", "other"];
      if (typeof engine.prepareSubagentSpawn === "function")
        await prepare(context, "child", "fork");
      for (const name of names)
        await context.session(name).deliver(engine, talk(name, { turns: 2, tools: 1 }));
      const all = () => Promise.all(names.map((name) => kept(context, name, engine)));
      const ends = (reason: "completed" | "swept" | "released" | "deleted") =>
        call(engine, "onSubagentEnded", {
          childSessionKey: context.session("child").ref.sessionKey,
          reason,
        });
      const before = await all();
      // What it puts off it does when it is made again.
      for (const reason of [...KEPT, "again", "deleted"] as const) {
        if (reason === "again") engine = await context.reopen();
        else await ends(reason);
        const after = await all();
        const lasts = reason !== "again" || after.at(-1) === before.at(-1);
        const lost = names.findIndex(
          (name, at) => after[at] !== before[at] && (reason !== "deleted" || name !== "child"),
        );
        if (!lasts) return;
        const of = lost === 1 ? "the child" : "another session";
        check(
          lost < 0,
          reason === "again"
            ? `Made again after onSubagentEnded() with "completed", "swept" and "released" it has not what it had of ${of}.`
            : `onSubagentEnded() with "${reason}" changed what it has of ${of}.`,
        );
      }
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

/** What a host says of a child beside its key: its id, that of its parent alone, or nothing. */
const TOLD = ["all", "parent", "keys"] as const;

/** Why the run of a child ended whose session stays. */
const KEPT = ["completed", "swept", "released", "completed"] as const;

/** Whose messages each of them does not show. */
const APART = [
  ["parent", ["child", "sister"]],
  ["child", ["parent", "sister"]],
  ["sister", ["child"]],
] as const;

function prepare(
  context: CaseContext,
  child: string,
  contextMode: "isolated" | "fork",
  told: (typeof TOLD)[number] = "all",
) {
  const [parent, of] = [context.session("parent").ref, context.session(child).ref];
  return call(context.engine, "prepareSubagentSpawn", {
    parentSessionKey: parent.sessionKey,
    childSessionKey: of.sessionKey,
    contextMode,
    ...(told !== "keys" && { parentSessionId: parent.sessionId }),
    ...(told === "all" && {
      parentSessionFile: parent.sessionFile,
      childSessionId: of.sessionId,
    }),
  });
}

/** All that the engine has of a session, as text. */
async function kept(context: CaseContext, name: string, engine = context.engine): Promise<string> {
  const session = context.session(name);
  const { sessionId, sessionKey } = session.ref;
  return JSON.stringify([
    await recordOf(engine, { sessionId, sessionKey }),
    await recordOf(engine, { sessionId }),
    (await session.assemble(engine)).messages,
  ]);
}

async function rollBack(preparation: Awaited<ReturnType<typeof prepare>>): Promise<void> {
  try {
    if (typeof preparation?.rollback === "function") await preparation.rollback();
  } catch {
    check(false, "rollback() threw.");
  }
}

// Conformance cases about committing each durable turn exactly once.
import type { ContextEngine } from "../../contract/engine.ts";
import type { CommitTurnParams } from "../../contract/lifecycle.ts";
import { type ConformanceCase, onlyWith } from "../case.ts";
import type { CaseContext } from "../case-context.ts";
import { call, check } from "../engine-call.ts";
import { expectNothingTwice } from "./idempotence.ts";
import { expectNothingLostWithin } from "./killed-within.ts";
import { turnOf } from "./observe.ts";

export const commitCases: readonly ConformanceCase[] = [
  {
    id: "commit/once",
    group: "commit",
    title: "answers committed to a new turn and duplicate to the same key again",
    rule: '"duplicate": this key was recorded before, and nothing was recorded now.',
    ...onlyWith("commitTurn"),
    async run(context) {
      const turn = await storedTurn(context, 1);
      const first = await commit(context.engine, turn());
      check(first === "committed", `The first commitTurn() of a key answered "${first}".`);
      const second = await commit(context.engine, turn());
      check(second === "duplicate", `The second commitTurn() of a key answered "${second}".`);
      await expectNothingTwice(context, "told to commit a turn twice");
    },
  },
  {
    id: "commit/at-once",
    group: "commit",
    title: "commits a turn once that is delivered several times at once",
    rule: "exactly once per `advancementKey`",
    ...onlyWith("commitTurn"),
    async run(context) {
      const turn = await storedTurn(context, 1);
      const answers = await Promise.all([1, 2, 3].map(() => commit(context.engine, turn())));
      const committed = answers.filter((status) => status === "committed").length;
      check(committed === 1, `Of three deliveries at once ${committed} were answered "committed".`);
    },
  },
  {
    id: "commit/each-key",
    group: "commit",
    title: "commits turns of different keys, each",
    rule: "the same key is the same turn",
    ...onlyWith("commitTurn"),
    async run(context) {
      for (const number of [1, 2, 3]) {
        const turn = await storedTurn(context, number);
        const status = await commit(context.engine, turn());
        check(status === "committed", `commitTurn() of the ${number}. turn answered "${status}".`);
      }
    },
  },
  {
    id: "commit/after-restart",
    group: "commit",
    title: "knows after a restart which turns it committed",
    rule: 'Delivered again after a crash: answer `{ status: "duplicate" }`.',
    ...onlyWith("commitTurn"),
    async run(context) {
      const turn = await storedTurn(context, 1);
      await commit(context.engine, turn());
      const status = await commit(await context.reopen(), turn());
      check(
        status === "duplicate",
        `After a restart commitTurn() of a committed key answered "${status}".`,
      );
    },
  },
  {
    id: "commit/killed-within",
    group: "commit",
    title:
      "has a turn that is committed again because the process was killed within the first time",
    rule: "exactly once per `advancementKey`",
    ...onlyWith("commitTurn"),
    async run(context) {
      const turn = await storedTurn(context, 1);
      await expectNothingLostWithin(context, "commitTurn()", (engine) => commit(engine, turn()));
    },
  },
];

async function commit(engine: ContextEngine, params: CommitTurnParams): Promise<unknown> {
  return (await call(engine, "commitTurn", params))?.status;
}

/**
 * Writes turn `number` to the transcript and gives what a host commits for it, fresh on every call.
 */
async function storedTurn(context: CaseContext, number: number): Promise<() => CommitTurnParams> {
  const session = context.session();
  const messages = turnOf("a", number, { tools: 1 });
  const first = session.history().length;
  await session.write(messages);
  const { sessionId, sessionKey } = session.ref;
  const anchor = (position: number) => ({
    ...anchorOf({ sessionId, sessionKey }, position),
    storePath: session.ref.sessionFile,
  });
  return () => ({
    sessionId,
    sessionKey,
    advancementKey: `turn-${number}`,
    admission: { ...anchor(first), logicalTurnId: `turn-${number}`, role: "user" },
    terminal: anchor(first + messages.length - 1),
    messages: session.history().slice(first, first + messages.length),
  });
}

/** Where a message of the kit's sessions stands, which hold nothing but messages. */
export function anchorOf(session: { sessionId: string; sessionKey: string }, position: number) {
  return {
    ...session,
    agentId: "kit",
    generation: 1,
    entryId: idAt(position),
    rawSeq: position,
    effectiveParentId: position === 0 ? null : idAt(position - 1),
    activeMessagePosition: position,
  };
}

const idAt = (position: number) => position.toString(16).padStart(8, "0");

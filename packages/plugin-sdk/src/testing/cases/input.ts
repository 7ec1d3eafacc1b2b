// Conformance cases about leaving the given messages unchanged.
import type { ConformanceCase } from "../case.ts";
import { call, check } from "../engine-call.ts";
import { talk } from "./observe.ts";

export const inputCases: readonly ConformanceCase[] = [
  {
    id: "input/assemble",
    group: "input",
    title: "assemble changes neither the given list nor what is in it",
    rule: "Must not change `messages` or what is in it.",
    async run(context) {
      const session = context.session();
      await session.deliver(context.engine, talk("a", { turns: 6, tools: 2 }));
      for (const tokenBudget of [500, 1_000_000]) {
        const messages = session.history();
        const availableTools = new Set(["read"]);
        await session.assemble(context.engine, { messages, tokenBudget, availableTools });
        check(
          JSON.stringify(messages) === JSON.stringify(session.history()),
          "assemble() changed the messages it was given.",
        );
        check(
          availableTools.size === 1 && availableTools.has("read"),
          "assemble() changed the set of tools it was given.",
        );
      }
    },
  },
  {
    id: "input/ingest",
    group: "input",
    title: "ingest does not change the given message",
    rule: "never changed afterwards, and not to be changed by the engine",
    async run(context) {
      const session = context.session();
      const { sessionId, sessionKey } = session.ref;
      await session.write(talk("a", { turns: 1, tools: 1 }));
      for (const given of session.history()) {
        const message = structuredClone(given);
        await call(context.engine, "ingest", { sessionId, sessionKey, message });
        check(
          JSON.stringify(message) === JSON.stringify(given),
          `ingest() changed the ${given.role} message it was given.`,
        );
      }
    },
  },
  {
    id: "input/turn",
    group: "input",
    title: "afterTurn and ingestBatch do not change the given messages",
    rule: "No method changes a message it is given.",
    appliesTo: "engines with afterTurn or ingestBatch",
    when: (engine) =>
      typeof engine.afterTurn === "function" || typeof engine.ingestBatch === "function",
    async run(context) {
      const { engine } = context;
      const session = context.session();
      await session.write(talk("a", { turns: 3, tools: 1 }));
      const { sessionId, sessionKey } = session.ref;
      const given = JSON.stringify(session.history());
      const [turn, batch] = [session.history(), session.history()];
      if (typeof engine.afterTurn === "function")
        await call(engine, "afterTurn", {
          ...session.ref,
          messages: turn,
          prePromptMessageCount: 0,
        });
      if (typeof engine.ingestBatch === "function")
        await call(engine, "ingestBatch", { sessionId, sessionKey, messages: batch });
      check(JSON.stringify(turn) === given, "afterTurn() changed the messages it was given.");
      check(JSON.stringify(batch) === given, "ingestBatch() changed the messages it was given.");
    },
  },
];

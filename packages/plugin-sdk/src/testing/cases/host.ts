// Conformance cases about hosts that an engine did not expect.
import type { ContextEngineInfo } from "../../contract/info.ts";
import type { ConformanceCase } from "../case.ts";
import { call, check } from "../engine-call.ts";
import { anchorOf } from "./commit.ts";
import { talk } from "./observe.ts";

export const hostCases: readonly ConformanceCase[] = [
  {
    id: "host/minimal-params",
    group: "host",
    title: "works without any optional parameter",
    rule: "Absent: an older host, there are none.",
    async run(context) {
      const { engine } = context;
      const session = context.session();
      const { sessionId, sessionFile } = session.ref;
      await session.write(talk("a", { turns: 3, tools: 1 }));
      if (typeof engine.bootstrap === "function")
        await call(engine, "bootstrap", { sessionId, sessionFile });
      if (typeof engine.afterTurn === "function")
        await call(engine, "afterTurn", {
          sessionId,
          sessionFile,
          messages: session.history(),
          prePromptMessageCount: 0,
        });
      if (typeof engine.ingestBatch === "function")
        await call(engine, "ingestBatch", { sessionId, messages: session.history() });
      await call(engine, "ingest", { sessionId, message: session.history()[0]! });
      await call(engine, "assemble", { sessionId, messages: session.history() });
      if (typeof engine.maintain === "function")
        await call(engine, "maintain", { sessionId, sessionFile });
      await call(engine, "compact", { sessionId, sessionFile });
    },
  },
  {
    id: "host/without-files",
    group: "host",
    title: "works for a host that keeps no session file, or says what it cannot do",
    rule: "Absent: the host keeps no file; an engine that needs one says so in `reason`.",
    async run(context) {
      const session = context.session();
      const { sessionId, sessionKey } = session.ref;
      const named = { sessionId, sessionKey };
      let engine = context.engine;
      for (const turn of [1, 2, 3]) {
        if (typeof engine.bootstrap === "function") {
          const result = await call(engine, "bootstrap", named);
          check(
            result?.bootstrapped !== false || (result.reason ?? "") !== "",
            "bootstrap() without a session file neither did anything nor gave a reason.",
          );
        }
        const before = session.history().length;
        const fresh = talk("a", { turns: 1, tools: 1 });
        await call(engine, "assemble", { ...named, messages: session.history() });
        session.keep(fresh);
        const messages = session.history();
        const added = () => session.history().slice(before);
        if (typeof engine.commitTurn === "function")
          await call(engine, "commitTurn", {
            ...named,
            advancementKey: `turn-${turn}`,
            admission: {
              ...anchorOf(named, before),
              logicalTurnId: `turn-${turn}`,
              role: "user",
            },
            terminal: anchorOf(named, messages.length - 1),
            messages: added(),
          });
        else if (typeof engine.afterTurn === "function")
          await call(engine, "afterTurn", { ...named, messages, prePromptMessageCount: before });
        else for (const message of added()) await call(engine, "ingest", { ...named, message });
        if (typeof engine.maintain === "function") await call(engine, "maintain", named);
        if (turn === 2) engine = await context.reopen();
      }
      const { sessionFile: _none, ...params } = session.compactParams();
      const result = await call(engine, "compact", params);
      check(
        result.compacted || (result.reason ?? "") !== "",
        "compact() without a session file neither did anything nor gave a reason.",
      );
      const { messages } = await session.assemble(engine);
      check(messages.length > 0, "Without a session file the assembly was empty.");
    },
  },
  {
    id: "host/extra-params",
    group: "host",
    title: "tolerates parameters of newer hosts that it does not know",
    rule: "Host-added parameters this engine accepts (`HostAddedParam`); `[]` = none. Absent: all.",
    async run(context) {
      const { engine } = context;
      const session = context.session();
      const newer = { kitNewerHostParam: { nested: true } };
      await session.write(talk("a", { turns: 3, tools: 1 }));
      const messages = session.history();
      if (typeof engine.bootstrap === "function")
        await call(engine, "bootstrap", { ...session.ref, ...newer });
      if (typeof engine.afterTurn === "function") {
        const params = { ...session.ref, messages, prePromptMessageCount: 0, ...newer };
        await call(engine, "afterTurn", params);
      }
      await call(engine, "ingest", { ...session.ref, message: session.history()[0]!, ...newer });
      await call(engine, "assemble", {
        ...session.ref,
        messages: session.history(),
        tokenBudget: 5000,
        ...newer,
      });
      await call(engine, "compact", { ...session.compactParams(), ...newer });
    },
  },
  {
    id: "host/info-read-often",
    group: "host",
    title: "info says the same however often and whenever it is read",
    rule: "Who the engine is and what it promises; may be a getter",
    async run(context) {
      const { engine } = context;
      const first = identity(engine.info);
      for (let reads = 0; reads < 50; reads++)
        check(identity(engine.info) === first, "info changed between two reads.");
      await context.session().deliver(engine, talk("a", { turns: 2 }));
      await context.session().assemble(engine);
      check(identity(engine.info) === first, "info changed after the engine was used.");
    },
  },
];

/** Ownership may come later, with a migration. */
function identity({ id, name, acceptedHostParams }: ContextEngineInfo): string {
  return JSON.stringify([id, name, acceptedHostParams]);
}

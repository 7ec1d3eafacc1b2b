// Engines that mix the sessions of one host.
import type { SessionRef } from "../../contract/session.ts";
import { type BrokenEngines, memoryWith, tick } from "./break.ts";

export const BROKEN_ISOLATION: BrokenEngines = {
  "isolation/interleaved": memoryWith((engine) => {
    const one = { sessionId: "the-only-one", sessionKey: "the-only-one" };
    return {
      ingest: (params) => engine.ingest({ ...params, ...one }),
      assemble: (params) => engine.assemble({ ...params, ...one }),
    };
  }),
  "isolation/alike": memoryWith((engine) => {
    const plain = <Params extends SessionRef>(params: Params) => ({
      ...params,
      sessionId: params.sessionId.replace(/\W/g, "_"),
    });
    return {
      ingest: (params) => engine.ingest(plain(params)),
      assemble: (params) => engine.assemble(plain(params)),
    };
  }),
  "isolation/at-once": memoryWith((engine) => {
    let current: SessionRef = { sessionId: "" };
    return {
      async ingest({ sessionId, sessionKey, ...params }) {
        current = { sessionId, ...(sessionKey !== undefined && { sessionKey }) };
        await tick();
        return engine.ingest({ ...params, ...current });
      },
    };
  }),
};

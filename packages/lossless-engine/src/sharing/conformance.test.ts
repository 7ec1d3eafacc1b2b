import { testEngine } from "@clew/plugin-sdk/testing";
import { describe, it } from "vitest";
import { createLosslessEngine } from "../engine.ts";
import { shareSessions } from "../testing/shared-sessions.ts";

describe("an engine whose sessions move between machines", () =>
  testEngine({
    test: it,
    create: (context) => {
      const machine = shareSessions({ gaps: true }).machine();
      const of: typeof machine.of = (ref, id) => {
        if (machine.of(ref, id) === undefined) machine.open(ref.sessionId);
        return machine.of(ref, id);
      };
      return createLosslessEngine({ ...context, sharedRows: { ...machine, of } });
    },
  }));

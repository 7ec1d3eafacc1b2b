import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { AgentMessage } from "../../contract/message.ts";
import type { SessionRef } from "../../contract/session.ts";
import { activeBranch } from "../../transcript/branch.ts";
import { buildContext } from "../../transcript/context.ts";
import { parseTranscript } from "../../transcript/parse.ts";
import type { EngineMaker } from "../case-context.ts";
import { replaySession } from "../conformance.ts";
import {
  createFullEngine,
  type EngineStore,
  emptyStore,
  nameOf,
  record,
  stored,
} from "../full-engine.ts";

const isSummary = ({ role }: AgentMessage) => role === "compactionSummary";

/** Also those before a compaction of the host. */
const everyMessage = (file: string) =>
  activeBranch(parseTranscript(readFileSync(file, "utf8")).entries).flatMap((entry) =>
    entry.type === "message" ? buildContext([entry]).items.map(({ message }) => message) : [],
  );

/** Keeps what it is told, reads or is shown, in the order in which that comes. */
function keeping({ read = everyMessage, forgets = false } = {}): EngineMaker {
  const disks = new Map<string, EngineStore>();
  return ({ agentDir }) => {
    const store = disks.get(agentDir) ?? emptyStore();
    disks.set(agentDir, store);
    const engine = createFullEngine(store, read);
    return {
      ...engine,
      assemble(params) {
        const { messages } = stored(store, params);
        const shown = new Set(params.messages.map(nameOf));
        if (forgets && params.messages.some(isSummary))
          for (const name of messages.keys()) if (!shown.has(name)) messages.delete(name);
        record(
          stored(store, params),
          params.messages.filter((message) => !isSummary(message)),
        );
        return engine.assemble(params);
      },
      storedMessages: (session: SessionRef) => [...stored(store, session).messages.values()],
    };
  };
}

const chat = { do: "chat", turns: 6, in: 0 };
const shrink = { do: "shrink", in: 0 };
const look = { do: "look", budget: null, in: 0 };
const turn = {
  ...{ do: "turn", says: "plain", tools: [], answers: "plain", ends: "told" },
  ...{ heartbeat: false, in: 0 },
};

describe("what an engine was told", () => {
  it("is not what stands before its host's own compaction, which only a file tells it", async () => {
    const session = { host: {}, steps: [chat, shrink, look] };
    expect(await replaySession(keeping(), session)).toEqual({ outcome: "passed" });
  });

  it("is in the order in which it was said, also where it was in a file before", async () => {
    const session = { host: {}, steps: [chat] };
    expect(await replaySession(keeping(), session)).toEqual({ outcome: "passed" });
    const backwards = keeping({ read: (file) => everyMessage(file).reverse() });
    expect(await replaySession(backwards, session)).toMatchObject({
      outcome: "failed",
      reason: expect.stringContaining("behind what came after it"),
    });
  });

  it("is kept where the host compacts once it was told", async () => {
    const turns = Array.from({ length: 6 }, () => turn);
    const session = { host: { files: false }, steps: [...turns, shrink, look, turn] };
    expect(await replaySession(keeping(), session)).toEqual({ outcome: "passed" });
    expect(await replaySession(keeping({ forgets: true }), session)).toMatchObject({
      outcome: "failed",
      reason: expect.stringContaining("its record lacks"),
    });
  });
});

import { describe, expect, it } from "vitest";
import type { CommitTurnParams } from "../contract/lifecycle.ts";
import type { AgentMessage } from "../contract/message.ts";
import type { TurnAdmission } from "../contract/session.ts";
import type { NewTranscriptEntry } from "../transcript/entries.ts";
import { placeEntry } from "../transcript/origin.ts";
import { createFullEngine, emptyStore, stored } from "./full-engine.ts";
import { assistant, toolCall, toolResult, user } from "./messages.ts";

const call = toolCall("read", {}, "call_1");
const TURNS: AgentMessage[][] = [
  [user("q1"), assistant("a1")],
  [user("q2"), assistant([call]), toolResult(call, "r2"), assistant("a2")],
  [user("q3"), assistant("a3")],
];

/** A transcript in memory, and what its file would give an engine that bootstraps from it. */
function transcript() {
  const written: AgentMessage[] = [];
  return {
    read: () => structuredClone(written),
    append(messages: readonly AgentMessage[]): AgentMessage[] {
      const placed = messages.map((message) => {
        const place = { id: `e${written.length}`, parentId: null, timestamp: "" };
        const fresh: NewTranscriptEntry = { type: "message", message };
        const entry = placeEntry(fresh, place);
        if (entry.type === "message") written.push(entry.message);
        return written.at(-1)!;
      });
      return structuredClone(placed);
    },
  };
}

const commitOf = (sessionId: string, turn: number, messages: AgentMessage[]): CommitTurnParams => ({
  sessionId,
  advancementKey: `turn-${turn}`,
  admission: {} as TurnAdmission,
  terminal: {} as CommitTurnParams["terminal"],
  // Some hosts add keys in a commit that they add nowhere else.
  messages: messages.map((message, index) => ({ ...message, idempotencyKey: `${turn}-${index}` })),
});

describe("the full engine", () => {
  it("stores each message once, whether it was committed, bootstrapped or both", async () => {
    const file = transcript();
    const store = emptyStore();
    const engine = createFullEngine(store, file.read);
    const session = { sessionId: "s", sessionKey: "k", sessionFile: "s.jsonl" };
    for (const [turn, messages] of TURNS.entries()) {
      await engine.bootstrap(session);
      const { messages: view } = await engine.assemble({ ...session, messages: file.read() });
      expect(view).toEqual(file.read());
      await engine.commitTurn(commitOf("s", turn, file.append(messages)));
    }
    await engine.bootstrap(session);
    expect(stored(store, session).messages.size).toBe(8);
  });

  it("does not bring the old conversation back when its key got a new session", async () => {
    const engine = createFullEngine(emptyStore(), () => []);
    const [said] = transcript().append([user("my secret is 4711")]);
    await engine.ingest({ sessionId: "old", sessionKey: "k", message: said! });
    const { messages } = await engine.assemble({ sessionId: "new", sessionKey: "k", messages: [] });
    expect(messages).toEqual([]);
  });

  it("compacts by an extract when the model fails that it asks", async () => {
    const engine = createFullEngine(emptyStore(), () => []);
    const session = { sessionId: "s", sessionKey: "k" };
    const long = TURNS.map(([asked, ...rest]) => [asked!, assistant("a ".repeat(4_000)), ...rest]);
    await engine.ingestBatch({ ...session, messages: transcript().append(long.flat()) });
    const runtimeContext = { llm: { complete: () => Promise.reject(new Error("out of credit")) } };
    expect(await engine.compact({ ...session, runtimeContext })).toMatchObject({
      ok: true,
      compacted: true,
    });
  });
});

import { assistant, toolCall, toolResult, user } from "@clew/plugin-sdk/testing";
import { buildContext } from "@clew/plugin-sdk/transcript";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyHistory, anyTurn, prose } from "../__fixtures__/histories.ts";
import {
  type MemorySession,
  memorySession,
  now,
  obedient,
  patientSleep,
} from "../__fixtures__/session.ts";
import { compactTranscript } from "./run.ts";
import { nextUndo, undoCompaction } from "./undo.ts";

const talk = (count: number) =>
  Array.from({ length: count }, (_, turn) => [
    user(`q${turn} ${prose(400, turn)}`),
    assistant(prose(400, turn)),
  ]).flat();
const compact = (session: MemorySession) =>
  compactTranscript({
    transcript: session,
    model: obedient(),
    trigger: "overflow",
    now,
    sleep: patientSleep(),
  });
const undo = (session: MemorySession) =>
  undoCompaction({ transcript: session, nextId: session.nextId, now });
const assembly = (session: MemorySession) => JSON.stringify(buildContext(session.branch()).items);
const messagesOf = (session: MemorySession) => JSON.stringify(session.context());

describe("undo", () => {
  it("restores the previous assembly byte for byte, and forgets nothing that was written", async () => {
    const session = memorySession(talk(40));
    const before = assembly(session);
    const compacted = await compact(session);
    expect(compacted.compacted).toBe(true);
    expect(assembly(session)).not.toBe(before);
    const written = session.written.length;
    expect(await undo(session)).toMatchObject({ ok: true, undone: [expect.any(String)] });
    expect(assembly(session)).toBe(before);
    expect(session.written.length).toBeGreaterThan(written);
  });

  it("keeps what was said since, after the restored history", async () => {
    const session = memorySession(talk(40));
    const before = messagesOf(session);
    await compact(session);
    const call = toolCall("read", { path: "x" });
    const later = session.say(
      user("and now?"),
      assistant([call]),
      toolResult(call, "y"),
      assistant("done"),
    );
    await session.append([{ type: "label", targetId: session.branch().at(-1)!.id, label: "here" }]);
    const labelled = session.branch().at(-2)!;
    const result = await undo(session);
    expect(messagesOf(session)).toBe(JSON.stringify([...JSON.parse(before), ...later]));
    expect(session.branch().at(-1)).toMatchObject({
      type: "label",
      targetId: result.ok ? result.remapped.get(labelled.id) : "",
    });
    expect(session.branch().at(-2)).toMatchObject({
      message: labelled.type === "message" ? labelled.message : null,
    });
  });

  it("takes one compaction back at a time", async () => {
    const session = memorySession(talk(40));
    const first = messagesOf(session);
    await compact(session);
    const afterFirst = messagesOf(session);
    const later = session.say(...talk(40));
    const second = messagesOf(session);
    await compact(session);
    await undo(session);
    expect(messagesOf(session)).toBe(second);
    await undo(session);
    expect(messagesOf(session)).toBe(JSON.stringify([...JSON.parse(first), ...later]));
    expect(afterFirst).not.toBe(first);
    expect(await undo(session)).toEqual({
      ok: false,
      code: "no-compaction",
      reason: "there is no compaction to undo",
    });
  });

  it("names what it would take back, and takes back nothing else", async () => {
    const session = memorySession(talk(40));
    expect(nextUndo(session.branch())).toBeNull();
    const { length } = session.context();
    await compact(session);
    const first = nextUndo(session.branch());
    const left = session.context().length - 1;
    expect(first).toMatchObject({ messages: length - left, clearedResults: 0 });
    session.say(...talk(40));
    await compact(session);
    const second = nextUndo(session.branch());
    expect(second?.entryId).not.toBe(first?.entryId);
    const request = { transcript: session, nextId: session.nextId, now };
    const before = assembly(session);
    expect(await undoCompaction({ ...request, only: first!.entryId })).toMatchObject({
      ...{ ok: false, code: "another" },
    });
    expect(assembly(session)).toBe(before);
    expect(await undoCompaction({ ...request, only: second!.entryId })).toMatchObject({
      ...{ ok: true, target: second, next: first },
    });
    expect(await undo(session)).toMatchObject({ ok: true, next: null });
  });

  it("brings cleared tool output back", async () => {
    const call = toolCall("read", { path: "big" });
    const session = memorySession([
      user("a"),
      assistant([call]),
      toolResult(call, prose(90_000)),
      assistant("seen"),
      ...talk(3),
    ]);
    const before = assembly(session);
    const result = await compact(session);
    expect(result.result?.details).toMatchObject({ pruneOnly: true });
    expect(assembly(session)).not.toBe(before);
    await undo(session);
    expect(assembly(session)).toBe(before);
  });

  it("takes a compaction back together with the prune it came with", async () => {
    const call = toolCall("read", { path: "big" });
    const session = memorySession([
      ...talk(40),
      user("a"),
      assistant([call]),
      toolResult(call, prose(55_000)),
      assistant("seen"),
      ...talk(3),
    ]);
    const before = assembly(session);
    const result = await compactTranscript({
      transcript: session,
      model: obedient({ contextWindow: 64_000 }),
      trigger: "overflow",
      currentTokenCount: 120_000,
      options: { lowWaterTokens: 30_000 },
      now,
      sleep: patientSleep(),
    });
    expect(result.result?.details).toMatchObject({ withPrune: true });
    expect(session.branch().slice(-2)).toMatchObject([
      { customType: "clew.prune" },
      { type: "compaction" },
    ]);
    expect(JSON.stringify(session.context())).toContain("[output pruned for context]");
    expect(await undo(session)).toMatchObject({ ok: true, undone: { length: 2 } });
    expect(assembly(session)).toBe(before);
  });

  it("leaves a session alone that was reset since", async () => {
    const session = memorySession(talk(40));
    await compact(session);
    await session.append([{ type: "reset" }]);
    const before = assembly(session);
    expect(await undo(session)).toEqual({
      ok: false,
      code: "reset-since",
      reason: "the session was reset after its last compaction",
    });
    expect(assembly(session)).toBe(before);
  });

  it("does not take back what a host pruned on its own", async () => {
    const session = memorySession(talk(3));
    await session.append([
      {
        type: "custom",
        customType: "clew.prune",
        data: { v: 1, entryIds: [], placeholder: "p", tokensFreed: 1, reason: "session" },
      },
    ]);
    expect(await undo(session)).toMatchObject({ ok: false });
  });

  it("restores any session to the byte after any number of compactions", async () => {
    await fc.assert(
      fc.asyncProperty(anyHistory, fc.array(anyTurn, { maxLength: 4 }), async (history, later) => {
        const session = memorySession(history);
        const assemblies: string[] = [];
        const said = [...session.context()];
        for (const turn of [[], ...later]) {
          said.push(...session.say(...turn));
          const before = messagesOf(session);
          const { compacted } = await compact(session);
          if (compacted) {
            assemblies.push(before);
            await undo(session);
            expect(messagesOf(session)).toBe(before);
            expect((await compact(session)).compacted).toBe(true);
          }
        }
        // Everything said, in order, once every compaction is taken back.
        for (let taken = 0; taken < assemblies.length; taken++)
          expect((await undo(session)).ok).toBe(true);
        expect(messagesOf(session)).toBe(JSON.stringify(said));
      }),
      // A case is up to ten compactions.
      { numRuns: fc.readConfigureGlobal().numRuns! / 4 },
    );
  });
});

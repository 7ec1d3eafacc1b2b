// How much the door keeps of very many sessions.
import { describe, expect, it } from "vitest";
import { contentHash } from "../../text/content-hash.ts";
import type { DoorEvent } from "../match/known-requests.ts";
import { replyMarks } from "../match/reply-marks.ts";
import { createDoorMemory, type DoorMemoryBounds } from "./door-memory.ts";
import { fileJournals } from "./journal-files.ts";

const SUMMARY = "What was said and done until here. ".repeat(120);

/** Events of one session of so many turns, which ends with its client's own compaction. */
function* eventsOf(session: string, turns: number): Generator<DoorEvent> {
  for (let turn = 0; turn < turns; turn++) {
    const end = contentHash(`${session} ${turn}`);
    const call = `call_${session}_${turn}_x9y8z7w6`;
    const isLast = turn === turns - 1;
    const kind = isLast ? "compaction" : "turn";
    yield {
      ...{ type: "request", session, kind, end, begun: turn > 0, tools: ["read"], head: "h" },
      ...{ kept: turn * 2, added: isLast ? [] : [`= calls ${call}`, contentHash(call)] },
      results: [[`before_${call}`, contentHash(end)]],
    };
    const calls = isLast ? [] : [call];
    const texts = [isLast ? `${SUMMARY} ${session}` : "A reply of some length. ".repeat(200)];
    yield {
      ...{ type: "reply", session, kind, end, whole: true },
      ...replyMarks(
        { kind, isForSummary: kind !== "turn" },
        { calls, forms: calls.map((id) => `read {"id":"${id}"}`), texts },
      ),
    };
  }
}

function remember(sessions: number, bounds: Partial<DoorMemoryBounds> = {}) {
  const source = { journals: fileJournals("/nowhere"), agentId: "main" };
  const memory = createDoorMemory(source, bounds);
  for (let count = 0; count < sessions; count++)
    for (const event of eventsOf(`agent:main:chat-${count}`, 8)) {
      memory.learn(event);
      memory.note(event.session, { marks: {}, scale: 1 });
    }
  return memory;
}

describe("what the door remembers", () => {
  it("is of the sessions used last, and of no more of them than it may", () => {
    const memory = remember(50, { sessions: 20 });
    const known = [...memory.known.sessions()].map(({ id }) => id);
    expect(known).toEqual(
      Array.from({ length: 20 }, (_, index) => `agent:main:chat-${index + 30}`),
    );
    expect(memory.notesOf("agent:main:chat-0")).toEqual({ marks: {}, scale: 1 });
    expect(memory.known.sessionOfCall("call_agent:main:chat-0_1_x9y8z7w6")).toBeUndefined();
    expect(memory.known.sessionOfCall("call_agent:main:chat-49_1_x9y8z7w6")).toBe(
      "agent:main:chat-49",
    );
  });

  it("weighs the texts of summaries, which are all that it keeps of texts", () => {
    const memory = remember(200, { items: 4_000 });
    const left = [...memory.known.sessions()];
    const chars = left.reduce((sum, { summaries }) => sum + summaries.join("").length, 0);
    expect(left.length).toBeGreaterThan(5);
    expect(chars).toBeLessThan(400_000);
    expect(JSON.stringify(left)).not.toContain("A reply of some length");
  });

  it("takes no more memory for the sessions that came before those", () => {
    const heldBy = (sessions: number) => {
      globalThis.gc?.();
      const before = process.memoryUsage().heapUsed;
      const memory = remember(sessions, { sessions: 300 });
      globalThis.gc?.();
      expect([...memory.known.sessions()]).toHaveLength(300);
      return (process.memoryUsage().heapUsed - before) / 2 ** 20;
    };
    // Without a collector that can be asked, garbage counts, too.
    const most = globalThis.gc === undefined ? 500 : 20;
    expect(heldBy(300)).toBeLessThan(most);
    expect(heldBy(1_500)).toBeLessThan(most);
  });
});

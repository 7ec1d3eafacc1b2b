import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ContextEngine } from "../../contract/engine.ts";
import type { AgentMessage } from "../../contract/message.ts";
import { messageId } from "../../transcript/message-id.ts";
import type { EngineMaker } from "../case-context.ts";
import { checkEngine } from "../conformance.ts";
import { createMemoryEngine } from "../memory-engine.ts";

type Write = (save: () => void, count: number) => void;

/** Keeps every message of a session, in one file for all; `write` decides when. */
const storing =
  (write: Write, dispose?: (save: () => void) => void): EngineMaker =>
  ({ agentDir, withoutFolder }) => {
    const file = join(agentDir, "all.json");
    let all: { sessionId: string; message: AgentMessage }[] = [];
    try {
      if (!withoutFolder) all = JSON.parse(readFileSync(file, "utf8"));
    } catch {}
    const save = () => {
      try {
        if (!withoutFolder) writeFileSync(file, JSON.stringify(all));
      } catch {} // The case is over.
    };
    const memory = createMemoryEngine();
    const engine: ContextEngine = {
      ...memory,
      ingest({ sessionId, message }) {
        const isOne = (one: (typeof all)[number]) =>
          one.sessionId === sessionId && messageId(one.message) === messageId(message);
        if (all.some(isOne)) return { ingested: false };
        all.push({ sessionId, message: structuredClone(message) });
        write(save, all.length);
        return { ingested: true };
      },
      assemble(params) {
        const own = all.filter(({ sessionId }) => sessionId === params.sessionId);
        const messages =
          params.messages.length > 0 ? params.messages : own.map((one) => one.message);
        return memory.assemble({ ...params, messages });
      },
      ...(dispose && { dispose: () => dispose(save) }),
    };
    return engine;
  };

const check = async (create: EngineMaker) =>
  (await checkEngine(create, { only: ["sessions/kills"] })).results[0]!;

// They wait for what is put off, on a machine that may be busy.
describe("an engine that is killed as it acknowledges a turn", { timeout: 120_000 }, () => {
  it("passes when it had stored the turn by then", async () => {
    expect(await check(storing((save) => save()))).toMatchObject({ outcome: "passed" });
  });

  it.each<[string, EngineMaker]>([
    ["now and then only", storing((save, count) => void (count % 4 === 0 && save()))],
    ["a little later", storing((save) => void setTimeout(save, 200))],
    [
      "when it is disposed of",
      storing(
        () => {},
        (save) => save(),
      ),
    ],
  ])("fails when it stores %s, by a small session", async (_when, create) => {
    const { outcome, reason, session } = await check(create);
    expect(outcome).toBe("failed");
    expect(reason).toMatch(/^Its record outlives its process, but of 2 messages it had 0 when/);
    expect(session!.steps).toHaveLength(1);
  });

  it("is not asked when it keeps nothing, or nothing for longer, and the report says so", async () => {
    expect(await check(createMemoryEngine)).toMatchObject({
      outcome: "not-applicable",
      reason: expect.stringMatching(/^Only for engines whose record outlives .* had \d+ messages/),
    });
    const forgetful: EngineMaker = () => ({
      ...createMemoryEngine(),
      ingest: () => ({ ingested: false }),
    });
    expect(await check(forgetful)).toMatchObject({
      outcome: "not-applicable",
      reason: expect.stringContaining("shows nothing of it"),
    });
  });
});

import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { AgentMessage } from "../../contract/message.ts";
import { ownerWith } from "../broken/owner.ts";
import { CONFORMANCE_CASES } from "../cases/index.ts";
import { replaySession, runCase } from "../conformance.ts";

function wholeIn(file: string): string | undefined {
  try {
    const text = readFileSync(file, "utf8");
    JSON.parse(text);
    return text;
  } catch {
    return undefined;
  }
}

const turn = {
  ...{ do: "turn", says: "plain", tools: [] as string[][], answers: "plain", ends: "told" },
  ...{ heartbeat: false, in: 0 },
};
const long = { ...turn, says: "long", tools: [["long"]], answers: "long" };
const compact = (by: number) => ({
  ...{ do: "compact", by, model: false, bare: false, asked: "budget", in: 0 },
});

describe("an owner's second summary", () => {
  it("need hold nothing of the first where a share of the view has no room for both", async () => {
    const steps = [
      { ...turn, answers: "long" },
      { ...turn, says: "signs", tools: [["plain"]] },
      ...[turn, compact(0.25), compact(0.5)],
    ];
    expect(await replaySession(ownerWith(), { host: {}, steps })).toEqual({ outcome: "passed" });
  });

  it("holds something of a short first one where the view has become far larger", async () => {
    const steps = [turn, turn, turn, compact(0.5), long, long, long, turn, compact(0.5)];
    const session = { host: {}, steps };
    expect(await replaySession(ownerWith(), session)).toEqual({ outcome: "passed" });
    const forgetful = ownerWith({ remembers: () => undefined });
    expect(await replaySession(forgetful, session)).toMatchObject({
      outcome: "failed",
      reason: expect.stringContaining("forgot all that its summary before stood for"),
    });
  });
});

describe("an owner that is killed while it compacts", () => {
  const killed = CONFORMANCE_CASES.find(({ id }) => id === "crash/killed-in-compaction")!;

  it("passes where its new decision takes the place of the old one at once", async () => {
    expect(await runCase(killed, ownerWith())).toMatchObject({ outcome: "passed" });
  });

  it("fails where the old decision is gone before there is a new one", async () => {
    const deleting = ownerWith({
      // Nothing but what is whole is read.
      read: (file) => wholeIn(file),
      save(file, text) {
        rmSync(file, { force: true });
        writeFileSync(file, text);
      },
    });
    expect(await runCase(killed, deleting)).toMatchObject({
      outcome: "failed",
      reason: expect.stringContaining("what was compacted is undone"),
    });
  });

  it("fails where half a decision makes it throw", async () => {
    const { outcome, reason } = await runCase(
      killed,
      ownerWith({ save: (file, text) => writeFileSync(file, text) }),
    );
    expect(outcome).toBe("failed");
    expect(reason).toMatch(/assemble\(\) threw/);
  });
});

describe("thinking with a signature", () => {
  const isThinking = ({ type }: { type: string }) => type === "thinking";
  const bare = (message: AgentMessage): AgentMessage =>
    message.role === "assistant"
      ? { ...message, content: message.content.filter((block) => !isThinking(block)) }
      : message;
  const called = { ...turn, tools: [["plain"], ["plain"]] };

  it("is shown in the running turn's calls, without which a provider refuses the next one", async () => {
    const session = { host: { eager: true }, steps: [called] };
    expect(await replaySession(ownerWith(), session)).toEqual({ outcome: "passed" });
    expect(await replaySession(ownerWith({ shows: bare }), session)).toMatchObject({
      outcome: "failed",
      reason: expect.stringContaining("without its signed thinking"),
    });
  });
});

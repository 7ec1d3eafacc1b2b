import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createSessionState, type ModelPort } from "@clew/engine-core";
import type { AssistantMessage } from "@clew/plugin-sdk/core";
import type { ModelCall, StreamEvent } from "@clew/plugin-sdk/host";
import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { systemClock } from "../clock.ts";
import { composeHost } from "../compose.ts";
import { readEnvironment } from "../config/environment.ts";
import { checkConfigText } from "../config/load.ts";
import { silentLog } from "../log/silent.ts";
import { createSessionStore } from "../sessions/store.ts";
import { temporaryHome } from "../testing/home.ts";

const MODEL = {
  provider: "test",
  api: "anthropic-messages",
  id: "listener",
  contextWindow: 16_000,
  maxOutputTokens: 2_000,
};

/** Keeps what it is sent; says `words` words. */
function listener(words: () => number): ModelPort & { calls: ModelCall[] } {
  const calls: ModelCall[] = [];
  return {
    calls,
    async *stream(call): AsyncGenerator<StreamEvent> {
      calls.push(call);
      const message: AssistantMessage = {
        role: "assistant",
        content: [
          { type: "text", text: `I noted it as note-${calls.length}. ${"tide ".repeat(words())}` },
        ],
        stopReason: "stop",
      };
      yield { type: "done", message };
    },
    complete: async () => ({
      ok: false,
      error: { kind: "unavailable", message: "nobody asks" },
      partial: { role: "assistant", content: [], stopReason: "error" },
    }),
  };
}

const anyCodePoint = fc.nat(0x10ffff).map((code) => String.fromCodePoint(code).toWellFormed());

const anySession = fc.record({
  rule: fc.string({ unit: anyCodePoint, minLength: 1, maxLength: 2000 }),
  turns: fc.array(
    fc.record({
      asked: fc.integer({ min: 1, max: 900 }),
      answered: fc.integer({ min: 1, max: 900 }),
      focus: fc.boolean(),
    }),
    { minLength: 4, maxLength: 10 },
  ),
});

describe("random compactions", () => {
  it("leave the workspace's instructions byte-identical in the system prompt of every request", async () => {
    const home = await temporaryHome();
    const workspace = join(home, "agents/main/workspace");
    await mkdir(workspace, { recursive: true });
    const host = composeHost({
      environment: readEnvironment({ CLEW_HOME: home }),
      loaded: checkConfigText("{}", "clew.json"),
      log: silentLog,
    });
    onTestFinished(() => host.close());
    const store = createSessionStore({ home });
    let started = 0;
    let sessions = 0;
    let compactions = 0;
    await fc.assert(
      fc.asyncProperty(anySession, async ({ rule, turns }) => {
        const key = `s${started++}`;
        const pinned = `\uFEFF# Rules of ${key}\r\n${rule}\t\n\n`;
        await writeFile(join(workspace, "AGENTS.md"), pinned);
        const session = await store.open({ key, cwd: home });
        let answered = 0;
        const model = listener(() => answered);
        const replacement = {
          model,
          modelRef: MODEL,
          tools: { list: () => [], run: async () => ({ content: [], isError: true }) },
          clock: systemClock,
        };
        const setup = { transcript: session, state: createSessionState(), replacement };
        let compacted = 0;
        for (const [at, turn] of turns.entries()) {
          answered = turn.answered;
          const { outcome, report } = await host.answer({
            ...setup,
            prompt: { content: `Note ${at}: ${"rock ".repeat(turn.asked)}` },
          });
          expect(outcome).toBe("completed");
          const { result } = await host.compact({
            ...setup,
            ...(turn.focus && { focus: "tides" }),
          });
          compacted +=
            report.compactions.filter((one) => one.compacted).length + (result.compacted ? 1 : 0);
        }
        expect(model.calls).toHaveLength(turns.length);
        for (const { systemPrompt } of model.calls)
          expect(systemPrompt.endsWith(pinned)).toBe(true);
        expect(new Set(model.calls.map(({ systemPrompt }) => systemPrompt)).size).toBe(1);
        expect(session.branch().filter(({ type }) => type === "compaction")).toHaveLength(
          compacted,
        );
        await session.close();
        compactions += compacted;
        sessions++;
      }),
      // A case is a session of some five compactions.
      { numRuns: fc.readConfigureGlobal().numRuns! / 5 },
    );
    expect(compactions).toBeGreaterThanOrEqual(sessions);
  });
});

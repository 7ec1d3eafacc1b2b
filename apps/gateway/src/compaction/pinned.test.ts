import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createSessionState, type ModelPort } from "@clew/engine-core";
import type { AssistantMessage } from "@clew/plugin-sdk/core";
import type { ModelCall, StreamEvent } from "@clew/plugin-sdk/host";
import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { composeHost, systemClock } from "../compose.ts";
import { readEnvironment } from "../config/environment.ts";
import { checkConfigText } from "../config/load.ts";
import { createSessionStore } from "../sessions/store.ts";
import { temporaryHome } from "../testing/home.ts";

const COMPACTIONS = 1000;
const SESSIONS = 20;
const silent = { info: () => {}, warn: () => {}, error: () => {} };

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

describe(`${COMPACTIONS} random compactions`, () => {
  it("leave the workspace's instructions byte-identical in the system prompt of every request", async () => {
    const home = await temporaryHome();
    const workspace = join(home, "agents/main/workspace");
    await mkdir(workspace, { recursive: true });
    const host = composeHost({
      environment: readEnvironment({ CLEW_HOME: home }),
      loaded: checkConfigText("{}", "clew.json"),
      log: silent,
    });
    onTestFinished(() => host.close());
    const store = createSessionStore({ home });
    const seed = 20_261_121;
    const rules = fc.sample(fc.string({ unit: "binary", minLength: 1, maxLength: 2000 }), {
      seed,
      numRuns: SESSIONS,
    });
    const picks = fc.sample(
      fc.record({
        asked: fc.integer({ min: 1, max: 900 }),
        answered: fc.integer({ min: 1, max: 900 }),
        focus: fc.boolean(),
      }),
      { seed, numRuns: 4 * COMPACTIONS },
    );
    let at = 0;
    let compactions = 0;
    for (const [number, rule] of rules.entries()) {
      const pinned = `\uFEFF# Rules ${number}\r\n${rule}\t\n\n`;
      await writeFile(join(workspace, "AGENTS.md"), pinned);
      const text = Buffer.from(pinned).toString();
      const session = await store.open({ key: `s${number}`, cwd: home });
      const state = createSessionState();
      const model = listener(() => picks[at % picks.length]!.answered);
      const modelRef = {
        provider: "test",
        api: "anthropic-messages",
        id: "listener",
        contextWindow: 16_000,
        maxOutputTokens: 2_000,
      };
      const replacement = {
        model,
        modelRef,
        tools: { list: () => [], run: async () => ({ content: [], isError: true }) },
        clock: systemClock,
      };
      const setup = { transcript: session, state, replacement };
      const before = compactions;
      while (compactions - before < COMPACTIONS / SESSIONS) {
        const { asked, focus } = picks[at++ % picks.length]!;
        const { outcome, report } = await host.answer({
          ...setup,
          prompt: { content: `Note ${at}: ${"rock ".repeat(asked)}` },
        });
        expect(outcome).toBe("completed");
        const { result } = await host.compact({ ...setup, ...(focus && { focus: "tides" }) });
        compactions +=
          report.compactions.filter(({ compacted }) => compacted).length +
          (result.compacted ? 1 : 0);
      }
      expect(model.calls.length).toBeGreaterThan(COMPACTIONS / SESSIONS / 2);
      for (const { systemPrompt } of model.calls) expect(systemPrompt.endsWith(text)).toBe(true);
      expect(new Set(model.calls.map(({ systemPrompt }) => systemPrompt)).size).toBe(1);
      expect(session.branch().filter(({ type }) => type === "compaction").length).toBeGreaterThan(
        COMPACTIONS / SESSIONS / 2,
      );
      await session.close();
    }
    expect(compactions).toBeGreaterThanOrEqual(COMPACTIONS);
  }, 180_000);
});

import { describe, expect, it, vi } from "vitest";
import type { ContextEngine } from "../contract/engine.ts";
import type { AssembleParams } from "../contract/lifecycle.ts";
import type { AgentMessage } from "../contract/message.ts";
import { delegateCompactionToRuntime } from "../delegate.ts";
import { testEngine } from "../testing/conformance.ts";
import { assistant, conversation, user } from "../testing/messages.ts";
import { estimateMessage, estimateMessages } from "../tokens/message.ts";
import { messageId } from "../transcript/message-id.ts";
import { newestThatFit } from "../transcript/newest-that-fit.ts";
import { adaptEngine, noMemory } from "./adapt-engine.ts";

/** Shows a summary of all but the newest two messages. */
function summing(more: Partial<ContextEngine> = {}) {
  const asked: AssembleParams[] = [];
  const engine: ContextEngine = {
    info: { id: "x", name: "X", ownsCompaction: true },
    ingest: () => ({ ingested: false }),
    assemble(params) {
      asked.push(params);
      const summary: AgentMessage = {
        role: "compactionSummary",
        summary: `${params.messages.length - 2} older`,
      };
      return { messages: [summary, ...params.messages.slice(-2)], estimatedTokens: 1 };
    },
    compact: async () => ({ ok: true, compacted: false }),
    ...more,
  };
  return { asked, made: adaptEngine(engine, noMemory()) };
}

const session = { sessionId: "s", sessionKey: "agent:main:s" };
const history = () => conversation({ turns: 4 });

describe("an engine in a host that hands back its view", () => {
  it("is not asked to shorten what it shortened", async () => {
    const { asked, made } = summing();
    const first = await made.assemble({ ...session, messages: history(), tokenBudget: 100 });
    const loop = { ...session, messages: structuredClone(first.messages), tokenBudget: 999 };
    expect(await made.assemble(loop)).toEqual(first);
    expect(asked).toHaveLength(1);
  });

  it("is asked of the history again, with what came to it, and of the smaller budget", async () => {
    const { asked, made } = summing();
    const given = history();
    const { messages } = await made.assemble({ ...session, messages: given, tokenBudget: 100 });
    const newer = { ...user("more"), timestamp: 9e12 };
    await made.assemble({ ...session, messages: [...messages, newer], tokenBudget: 999 });
    expect(asked[1]).toMatchObject({ tokenBudget: 100 });
    expect(asked[1]!.messages).toHaveLength(given.length + 1);
    expect(asked[1]!.messages.map(({ role }) => role)).not.toContain("compactionSummary");
    expect(JSON.stringify(asked)).not.toContain("shownAs");
  });

  it("is asked again after a compaction", async () => {
    const { asked, made } = summing();
    const { messages } = await made.assemble({ ...session, messages: history() });
    await made.compact({ ...session });
    await made.assemble({ ...session, messages });
    expect(asked[1]!.messages).toEqual(asked[0]!.messages);
  });

  it("is asked of another session as of any", async () => {
    const { asked, made } = summing();
    await made.assemble({ ...session, messages: history() });
    await made.assemble({ sessionId: "other", messages: [user("hi")] });
    expect(asked[1]!.messages).toHaveLength(1);
  });
});

describe("what an engine sees of a host without ids", () => {
  it("has the same ids in each call, cut or not, and after a copy that lost its details", async () => {
    const { asked, made } = summing();
    const given = history();
    await made.assemble({ ...session, messages: given });
    await made.assemble({ ...session, messages: given.slice(2) });
    const ids = asked.map(({ messages }) => messages.map(messageId));
    expect(ids[1]).toEqual(ids[0]!.slice(2));
    expect(new Set(ids[0]).size).toBe(given.length);
  });

  it("tells messages of one moment apart", async () => {
    const { asked, made } = summing();
    const at = (text: string) => ({ ...assistant(text), timestamp: 5 });
    await made.assemble({ ...session, messages: [at("a"), at("b")] });
    expect(asked[0]!.messages.map(messageId)).toEqual(["assistant:5", "assistant:5:1"]);
  });
});

it("gives what an engine wrote the time of what follows it", async () => {
  const { made } = summing();
  const given = history();
  const { messages } = await made.assemble({ ...session, messages: given });
  expect(messages[0]!.timestamp).toBe(given.at(-2)!.timestamp);
});

it("compacts to what a view may use, where the host names the whole window", async () => {
  const compact = vi.fn(async () => ({ ok: true, compacted: false }));
  const { made } = summing({ compact });
  await made.assemble({ ...session, messages: history(), tokenBudget: 28_000 });
  await made.compact({ ...session, sessionFile: "agent:main:s", tokenBudget: 48_000 });
  expect(compact).toHaveBeenCalledWith({ ...session, tokenBudget: 28_000 });
});

it("calls each method on the engine itself, and only those that it has", async () => {
  class Private {
    #bootstrapped = 0;
    info = { id: "x", name: "X" };
    ingest = () => ({ ingested: false });
    assemble = ({ messages }: AssembleParams) => ({ messages, estimatedTokens: 0 });
    compact = delegateCompactionToRuntime;
    bootstrap() {
      return { bootstrapped: false, importedMessages: ++this.#bootstrapped };
    }
  }
  const made = adaptEngine(new Private(), noMemory());
  expect(await made.bootstrap!({ ...session })).toMatchObject({ importedMessages: 1 });
  expect(made.maintain).toBeUndefined();
});

describe("an engine in other hosts keeps the contract", () => {
  const memory = noMemory();
  testEngine({
    test: it,
    create: () =>
      adaptEngine(
        {
          info: { id: "newest", name: "Newest that fit" },
          ingest: () => ({ ingested: false }),
          assemble: ({ messages, tokenBudget = Infinity }) => {
            const count = (message: AgentMessage) => estimateMessage(message).high;
            const fit = newestThatFit(messages, { maxTokens: tokenBudget, count });
            const fits = fit.tokens <= tokenBudget;
            return {
              messages: fit.messages,
              estimatedTokens: estimateMessages(fit.messages).estimate,
              promptAuthority: fits ? "assembled" : "preassembly_may_overflow",
              ...(fit.lacksSummary && { systemPromptAddition: "A summary is left out." }),
            };
          },
          compact: delegateCompactionToRuntime,
        },
        memory,
      ),
  });
});

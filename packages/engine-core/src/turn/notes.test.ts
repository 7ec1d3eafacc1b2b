import {
  type AgentMessage,
  type CommitTurnParams,
  type ContextEngine,
  messageId,
} from "@clew/plugin-sdk/core";
import type { NewTranscriptEntry } from "@clew/plugin-sdk/transcript";
import { describe, expect, it } from "vitest";
import { callTool, memoryTranscript, passThrough, testHost, tools } from "../__fixtures__/host.ts";
import { createDeliveryLedger } from "../index.ts";

const note = (content: string, customType = "a plugin"): NewTranscriptEntry => ({
  type: "custom_message",
  customType,
  content,
});

const shown = (message: AgentMessage): NewTranscriptEntry => ({ type: "message", message });

const said = (message: AgentMessage) =>
  message.role === "user" || message.role === "custom" ? String(message.content) : message.role;

/** Keeps what it is given, by id, one list per call. */
function keeping(lifecycle: "eager" | "durable", overrides: Partial<ContextEngine> = {}) {
  const calls: string[][] = [];
  const ids: string[] = [];
  const commits: CommitTurnParams[] = [];
  const keep = (messages: readonly AgentMessage[]) => {
    calls.push(messages.map(said));
    ids.push(...messages.map((message) => messageId(message)!));
  };
  const durable: Partial<ContextEngine> = {
    info: {
      id: "keeping",
      name: "Keeping",
      transcriptSemantics: {
        currentTurnFence: "before-current-turn-entry-v1",
        turnAdvancementIdempotency: "atomic-idempotent-v1",
      },
    },
    commitTurn(params) {
      commits.push(params);
      keep(params.messages);
      return { status: "committed" };
    },
  };
  const eager: Partial<ContextEngine> = {
    info: { id: "keeping", name: "Keeping" },
    afterTurn: ({ messages, prePromptMessageCount }) => keep(messages.slice(prePromptMessageCount)),
  };
  const engine = passThrough({ ...(lifecycle === "durable" ? durable : eager), ...overrides });
  return { engine, calls, ids, commits };
}

function open(
  lifecycle: "eager" | "durable",
  {
    overrides,
    ...options
  }: Parameters<typeof testHost>[0] & { overrides?: Partial<ContextEngine> } = {},
) {
  const { engine, ...kept } = keeping(lifecycle, overrides);
  const transcript = Object.assign(memoryTranscript(), { deliveries: createDeliveryLedger() });
  const toolkit = tools({
    jot: async () => {
      await transcript.append([note("noted by a tool")]);
      return "done";
    },
  });
  const replies = [callTool("jot"), "one", "two", "three"];
  return { ...testHost({ engine, transcript, tools: toolkit, replies, ...options }), ...kept };
}

describe.each(["eager", "durable"] as const)(
  "a note in the transcript, %s lifecycle",
  (lifecycle) => {
    it("in a turn is handed over with it, in its place and once", async () => {
      const { say, calls, ids, commits, lastSeen } = open(lifecycle);
      await say("a");
      expect(lastSeen().map((line) => line.split(": ")[1])).toContain("noted by a tool");
      await say("b");
      expect(calls).toEqual([
        ["a", "assistant", "noted by a tool", "toolResult", "assistant"],
        ["b", "assistant"],
      ]);
      expect(new Set(ids).size).toBe(ids.length);
      if (lifecycle === "durable")
        expect(commits[1]!.admission).toMatchObject({ rawSeq: 5, activeMessagePosition: 5 });
    });

    it("between two turns leaves the earlier one as it was", async () => {
      const { say, calls, ports, ids, state } = open(lifecycle, { replies: ["one", "two"] });
      const { transcript } = ports;
      await say("a");
      await transcript.append([note("noted meanwhile")]);
      await say("b");
      expect(calls).toEqual([
        ["a", "assistant"],
        // A commit begins with the prompt that admits it; the note is in the history it is given.
        lifecycle === "eager" ? ["noted meanwhile", "b", "assistant"] : ["b", "assistant"],
      ]);
      const { report } = await testHost({
        ...{ engine: keeping(lifecycle).engine, transcript, state },
        replies: ["three"],
      }).say("c");
      expect(report).not.toHaveProperty("deliveries");
      expect(new Set(ids).size).toBe(ids.length);
    });

    it("may be a message that neither person nor model nor tool said", async () => {
      const { say, calls, ports, ids, commits } = open(lifecycle, { replies: ["one", "two"] });
      await say("a");
      await ports.transcript.append([
        shown({ role: "custom", customType: "deploy", content: "deployed" }),
        shown({ role: "bashExecution", command: "ls", output: "a.txt", exitCode: 0 }),
      ]);
      await say("b");
      await say("c");
      expect(calls).toEqual([
        ["a", "assistant"],
        [...(lifecycle === "eager" ? ["deployed", "bashExecution"] : []), "b", "assistant"],
        ["c", "assistant"],
      ]);
      expect(new Set(ids).size).toBe(ids.length);
      expect(new Set(commits.map(({ advancementKey }) => advancementKey)).size).toBe(
        lifecycle === "durable" ? 3 : 0,
      );
    });

    it("may be a reply that a host stored on its own", async () => {
      const { say, calls, ports, ids, commits } = open(lifecycle, { replies: ["one", "two"] });
      await say("a");
      await ports.transcript.append([
        shown({ ...callTool("jot"), content: [{ type: "text", text: "sent by mail, too" }] }),
      ]);
      await say("b");
      await say("c");
      expect(calls.flat()).toEqual([
        ...["a", "assistant"],
        // A commit that was made stands for what it held, and is not made again.
        ...(lifecycle === "eager" ? ["assistant"] : []),
        ...["b", "assistant", "c", "assistant"],
      ]);
      expect(new Set(ids).size).toBe(ids.length);
      expect(commits).toHaveLength(lifecycle === "durable" ? 3 : 0);
    });

    it("is known to an engine that sees the session for the first time", async () => {
      const bootstrap = () => ({ bootstrapped: true });
      const { say, calls, ports } = open(lifecycle, {
        overrides: { bootstrap },
        replies: ["one"],
      });
      await ports.transcript.append([
        { type: "message", message: { role: "user", content: "before" } },
        note("noted before"),
        { type: "branch_summary", fromId: "x", summary: "left" },
      ]);
      await say("a");
      expect(calls).toEqual([["a", "assistant"]]);
    });

    it("that is only for one run is handed to no engine", async () => {
      const { say, calls, ports } = open(lifecycle, { replies: ["one", "two"] });
      await say("a");
      await ports.transcript.append([note("today is Monday", "openclaw.runtime-context")]);
      await say("b");
      expect(calls.flat()).toEqual(["a", "assistant", "b", "assistant"]);
    });
  },
);

it("a note that a rewrite appended again still belongs to the running turn", async () => {
  let wish: string | undefined;
  const { say, ports, lastSeen } = open("eager", {
    replies: [callTool("jot", {}, "c1"), callTool("jot", {}, "c2"), "done"],
    overrides: {
      info: { id: "keeping", name: "Keeping", ownsCompaction: true },
      async afterTurn({ runtimeContext }) {
        const entryId = wish;
        wish = undefined;
        if (entryId !== undefined)
          await runtimeContext?.rewriteTranscriptEntries?.({
            replacements: [{ entryId, message: { role: "user", content: "a, rewritten" } }],
          });
      },
    },
  });
  wish = "entry-0";
  const { report } = await say("a");
  expect(lastSeen()).toEqual([
    "user: a, rewritten",
    "assistant: [toolCall]",
    "custom: noted by a tool",
    "toolResult: done",
    "assistant: [toolCall]",
    "custom: noted by a tool",
    "toolResult: done",
  ]);
  expect(report.views).toBeUndefined();
  expect(ports.transcript.branch().length).toBe(8);
});

it("a note of the running turn is the same note in a successor", async () => {
  const successor = Object.assign(memoryTranscript([], "moved-"), {
    deliveries: createDeliveryLedger(),
  });
  Object.assign(successor.session, { sessionId: "session-2" });
  const overflow = { error: { kind: "overflow" as const, message: "too long" } };
  const { say, calls } = open("eager", {
    replies: ["one", callTool("jot"), overflow, "done"],
    ports: { successors: { adopt: async () => successor } },
    overrides: {
      info: { id: "keeping", name: "Keeping", ownsCompaction: true },
      compact: () => ({
        ok: true,
        compacted: true,
        result: { tokensBefore: 2, tokensAfter: 1, sessionId: "session-2" },
      }),
    },
  });
  await say("before");
  const result = await say("a");
  expect(result.error).toBeNull();
  expect(successor.entries.map(({ type }) => type)).toEqual([
    ...["message", "message", "custom_message", "message", "message"],
  ]);
  expect(calls.flat().filter((text) => text === "noted by a tool")).toHaveLength(1);
});

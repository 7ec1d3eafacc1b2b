// An engine that returns copies gets the same requests and reports as one that returns the given.

import type { AgentMessage, AssistantMessage, ContextEngine } from "@clew/plugin-sdk/core";
import type { ModelCall } from "@clew/plugin-sdk/host";
import { createMemoryEngine } from "@clew/plugin-sdk/testing";
import { describe, expect, it } from "vitest";
import { MODEL, testHost, tools } from "../__fixtures__/host.ts";
import type { TurnReport } from "../index.ts";
import { currentSession, type Disk, emptyDisk, storeOf } from "./__fixtures__/disk.ts";
import { openTranscript } from "./__fixtures__/disk-transcript.ts";
import type { EngineShape } from "./__fixtures__/engine-shape.ts";
import { pairingPolicy } from "./__fixtures__/pairing-policy.ts";
import { recordingEngine } from "./__fixtures__/recording-engine.ts";

/** Warm for no time at all, so that every turn may prune. */
const model = { ...MODEL, contextWindow: 10_000, cacheTtlMs: 1 };
const settings = { reserveTokens: 0, sessionPrune: { mode: "cache-ttl" as const } };

const base: EngineShape = {
  id: "test",
  takes: "afterTurn",
  bootstraps: "never",
  compacts: "delegates",
  ownsCompaction: false,
  returns: "given",
  inBackground: false,
};

const recording = (overrides: Partial<EngineShape>) => (disk: Disk) =>
  recordingEngine(
    { ...base, ...overrides },
    {
      disk,
      store: storeOf(disk, "test"),
      step: async () => {},
      now: () => 0,
      abortedAt: () => undefined,
      begin: () => () => {},
      compacted() {},
      hasCompacted: () => false,
      isBeforeTurn: () => false,
      takeHang: () => false,
      takeWish: () => undefined,
    },
  );

const suite: [string, (disk: Disk) => ContextEngine][] = [
  ["the kit's memory engine", () => createMemoryEngine()],
  ["an eager engine", recording({})],
  ["an eager engine that reads the transcript", recording({ bootstraps: "always" })],
  ["an eager owner", recording({ ownsCompaction: true, takes: "ingestBatch", compacts: "covers" })],
  ["an engine that summarises", recording({ compacts: "covers" })],
  ["a durable engine", recording({ takes: "commitTurn" })],
  ["a durable owner", recording({ takes: "commitTurn", ownsCompaction: true, compacts: "covers" })],
];

/** The engine, whose views go through `change`. */
function returning(engine: ContextEngine, change: (messages: AgentMessage[]) => AgentMessage[]) {
  const assemble: ContextEngine["assemble"] = async (params) => {
    const answer = await engine.assemble(params);
    return { ...answer, messages: change(answer.messages) };
  };
  return { ...engine, assemble };
}

const asGiven = (messages: AgentMessage[]) => messages;
const asCopies = (messages: AgentMessage[]) =>
  JSON.parse(JSON.stringify(messages)) as AgentMessage[];
/** As engines do that rebuild messages from a store of their own. */
const withoutIds = (messages: AgentMessage[]) =>
  asCopies(messages).map(({ __openclaw: _host, ...message }) => message as AgentMessage);

/** Replies with a count far below the estimate: what was counted is not estimated again. */
function reply(turn: number, call: number, { messages }: ModelCall): AssistantMessage {
  const counted = Math.ceil(JSON.stringify(messages, unlessHost).length / 12);
  const usage = {
    input: counted,
    output: 5,
    cacheRead: 0,
    cacheWrite: 0,
    totalTokens: counted + 5,
  };
  if (turn === 1 && call === 0)
    return {
      role: "assistant",
      content: [0, 1, 2].map((index) => ({
        type: "toolCall",
        id: `c${index}`,
        name: "read",
        arguments: { index },
      })),
      stopReason: "toolUse",
      usage,
    };
  return {
    role: "assistant",
    content: [{ type: "text", text: `r${turn} ${"answer ".repeat(20)}` }],
    stopReason: "stop",
    usage,
  };
}

const TURNS = 8;

async function live(
  make: (disk: Disk) => ContextEngine,
  change: (messages: AgentMessage[]) => AgentMessage[],
  { counts = true } = {},
) {
  const disk = emptyDisk();
  const transcript = openTranscript(disk, currentSession(disk), {
    step: async () => {},
    turnKind: () => "user",
  });
  const requests: string[] = [];
  let turn = 0;
  let call = 0;
  let tick = 0;
  const host = testHost({
    engine: returning(make(disk), change),
    replies: [
      (asked) => {
        requests.push(JSON.stringify([asked.systemPrompt, asked.messages, asked.tools]));
        const { usage, ...uncounted } = reply(turn, call++, asked);
        return counts ? { ...uncounted, usage: usage! } : uncounted;
      },
    ],
    tools: tools({ read: ({ index }) => `line ${index} of output\n`.repeat(500) }),
    transcript: transcript as never,
    ports: { policy: pairingPolicy, clock: { now: () => ++tick, monotonic: () => 0 } },
  });
  const reports: TurnReport[] = [];
  for (; turn < TURNS; turn++) {
    call = 0;
    const { report } = await host.say(`q${turn} please`, { model, settings });
    reports.push(report);
  }
  return { requests, reports, disk };
}

/** What depends on nothing but the machine is left out. */
const comparable = (reports: readonly TurnReport[]) =>
  reports.map((report) =>
    JSON.parse(
      JSON.stringify(report, (key, value: unknown) => (key.endsWith("Ms") ? undefined : value)),
    ),
  ) as unknown[];

const unlessHost = (key: string, value: unknown) => (key === "__openclaw" ? undefined : value);

/** Requests as drivers send them: without what the host wrote on the messages for itself. */
const bodies = (requests: readonly string[]) =>
  requests.map((request) => JSON.stringify(JSON.parse(request, unlessHost)));

/** Which request differs first, and how it goes on there: whole requests are long. */
function firstDifference(requests: readonly string[], expected: readonly string[]) {
  const at = expected.findIndex((request, index) => request !== requests[index]);
  if (at < 0) return requests.length === expected.length ? undefined : "more requests";
  const [request = "none", wanted = ""] = [requests[at], expected[at]];
  const from = [...wanted].findIndex((letter, index) => letter !== request[index]);
  const around = (text: string) => text.slice(Math.max(0, from - 60), from + 60);
  return `request ${at}: ${around(request)} instead of ${around(wanted)}`;
}

describe.each(suite)("%s", (_name, make) => {
  it("returns copies: same requests byte for byte, same reports", async () => {
    const given = await live(make, asGiven);
    const copies = await live(make, asCopies);
    expect(firstDifference(copies.requests, given.requests)).toBeUndefined();
    expect(comparable(copies.reports)).toEqual(comparable(given.reports));
  });

  it("returns messages without ids: same requests byte for byte", async () => {
    const given = await live(make, asGiven);
    const bare = await live(make, withoutIds);
    expect(firstDifference(bodies(bare.requests), bodies(given.requests))).toBeUndefined();
  });

  it("was compared in a session that prunes, and that fits by the provider's count only", async () => {
    const { requests, reports, disk } = await live(make, asGiven);
    expect(reports.map(({ outcome, reason }) => reason ?? outcome)).toEqual(
      reports.map(() => "completed"),
    );
    expect(reports.flatMap(({ compactions }) => compactions)).toEqual([]);
    const lengths = requests.map((request) => request.length);
    expect(lengths.at(-1)).toBeLessThan(Math.max(...lengths));
    expect([...disk.files.values()].flat().join()).toContain('"type":"custom"');
    const uncounted = await live(make, asGiven, { counts: false });
    expect(firstDifference(uncounted.requests, requests)).toBeDefined();
  });
});

// Puts one hostile engine into a host with a second session, and says what became of both.
import {
  type AgentMessage,
  type AssistantMessage,
  type ContextEngine,
  type ContextEngineFactory,
  delegateCompactionToRuntime,
  messageId,
} from "@clew/plugin-sdk/core";
import type { StreamEvent } from "@clew/plugin-sdk/host";
import { MODEL, memoryLog, passThrough } from "../../__fixtures__/host.ts";
import {
  createEngineRegistry,
  createSessionState,
  type EngineRegistry,
  type FailurePolicy,
  type HostPorts,
  resolveContextEngine,
  runTurn,
  type TurnResult,
} from "../../index.ts";
import {
  currentSession,
  type Disk,
  emptyDisk,
  eventOf,
  messageEntries,
  readBranch,
} from "./disk.ts";
import { openTranscript } from "./disk-transcript.ts";
import { startOfTurns } from "./engine-compaction.ts";
import { pairingPolicy } from "./pairing-policy.ts";

/** How long one call of a hostile engine may take, ms; short, because many of them never end. */
export const BOUND_MS = 25;
/** A reply later than this is no reply. */
const PATIENCE_MS = 5_000;

/** Every method of the contract, each doing the least that is right. */
export function sensibleEngine(): ContextEngine {
  return {
    info: { id: "hostile", name: "Hostile", version: "1.0.0", ownsCompaction: true },
    bootstrap: () => ({ bootstrapped: true }),
    maintain: () => ({ changed: false, bytesFreed: 0, rewrittenEntries: 0 }),
    ingest: () => ({ ingested: true }),
    afterTurn: () => {},
    assemble: ({ messages }) => ({ messages, estimatedTokens: 0 }),
    compact: delegateCompactionToRuntime,
  };
}

export interface Ordeal {
  /** The turns of the hostile engine's session. */
  results: readonly TurnResult[];
  /** The turn of the other session, whose engine is sound. */
  other: TurnResult;
  registry: EngineRegistry;
  log: readonly string[];
  /** What the model was asked in the hostile engine's session, as events. */
  requests: readonly { turn: number; events: readonly string[] }[];
  /** Messages of its transcript as they were stored, and as they are now. */
  stored: readonly string[];
  found: readonly string[];
}

/** What a hostile engine knows of its session beside what it is told. */
export interface HostileSession {
  /** Ids of the message entries on the branch, as the session file shows them. */
  entryIds(): string[];
}

/** What the host of the hostile engine's session does otherwise. */
export interface Lends {
  /** Answers what the engine asks a model. Absent: nobody does. */
  complete?: HostPorts["model"]["complete"];
  /** Takes its time over the built-in compaction. Absent: it takes none. */
  compacting?: (onProgress: () => void) => Promise<void>;
}

/**
 * A turn by the fallback, so that there is something to bootstrap from; then two turns by the
 * engine, the first with a tool and an overflow, while another session answers.
 */
export async function ordeal(
  make: (session: HostileSession) => ReturnType<ContextEngineFactory>,
  { policy = "quarantine" as FailurePolicy, afterwards = async () => {}, lends = {} as Lends } = {},
): Promise<Ordeal> {
  const disk = emptyDisk();
  const log = memoryLog();
  const clock = { now: () => ++disk.next, monotonic: () => performance.now() };
  const registry = createEngineRegistry({
    fallback: () => passThrough({ compact: delegateCompactionToRuntime }),
    log,
    clock,
    failurePolicy: () => policy,
    bounds: (engineId) => (engineId === "hostile" ? tightBounds() : {}),
  });
  registry.register({
    engineId: "sound",
    owner: "plugin:sound",
    factory: () => ({ ...sensibleEngine(), info: { id: "sound", name: "Sound" } }),
  });
  const hostile = openSession(disk, registry, "agent:main:hostile", lends);
  registry.register({
    engineId: "hostile",
    owner: "plugin:hostile",
    factory: () => make({ entryIds: hostile.entryIds }),
  });
  const sound = openSession(disk, registry, "agent:main:sound");
  await hostile.say("legacy", 0);
  const first = hostile.say("hostile", 1);
  const other = inTime(sound.say("sound", 9), "the other session's reply");
  const results = [await inTime(first, "the first reply")];
  results.push(await inTime(hostile.say("hostile", 2), "the second reply"));
  const otherResult = await other;
  await afterwards();
  return {
    results,
    other: otherResult,
    registry,
    log: log.lines,
    requests: hostile.requests,
    stored: hostile.stored,
    found: hostile.found(),
  };
}

function openSession(
  disk: Disk,
  registry: EngineRegistry,
  sessionKey: string,
  { complete = () => Promise.reject(new Error("nobody asks")), compacting }: Lends = {},
) {
  const session = currentSession(disk, sessionKey);
  const transcript = openTranscript(disk, session, {
    step: async () => {},
    turnKind: () => "user",
  });
  const stored: string[] = [];
  const { append } = transcript;
  transcript.append = async (entries) => {
    const written = await append(entries);
    stored.push(...contents(messageEntries(written).map(({ message }) => message)));
    return written;
  };
  const requests: { turn: number; events: string[] }[] = [];
  const state = createSessionState();
  let turn = 0;
  let call = 0;
  const ports: HostPorts = {
    transcript,
    policy: pairingPolicy,
    model: {
      async *stream({ messages }): AsyncIterable<StreamEvent> {
        requests.push({ turn, events: messages.map(eventOf) });
        yield replyTo(turn, call++);
      },
      complete,
    },
    tools: {
      list: () => [{ name: "t", description: "test", parameters: { type: "object" } }],
      run: async ({ call: { id } }) => ({
        content: [{ type: "text", text: `x ${id}` }],
        isError: false,
      }),
    },
    compaction: {
      async compact(_ask, { onProgress = () => {} } = {}) {
        await compacting?.(onProgress);
        const branch = transcript.branch();
        const start = startOfTurns(branch, 1);
        const isNew = start > branch.findLastIndex(({ type }) => type === "compaction");
        if (start === 0 || !isNew)
          return { ok: true, compacted: false, code: "nothing-to-compact" };
        const firstKeptEntryId = branch[start]!.id;
        await transcript.append([
          { type: "compaction", summary: "short", firstKeptEntryId, tokensBefore: 9 },
        ]);
        return { ok: true, compacted: true, result: { tokensBefore: 100, tokensAfter: 10 } };
      },
    },
    log: memoryLog(),
    clock: { now: () => ++disk.next, monotonic: () => performance.now() },
    ids: { next: () => `id-${disk.next++}`, hash: String },
  };
  return {
    stored,
    requests,
    entryIds: () => messageEntries(readBranch(disk, session.sessionFile)).map(({ id }) => id),
    found: () =>
      contents(messageEntries(readBranch(disk, session.sessionFile)).map(({ message }) => message)),
    async say(engineId: string, number: number): Promise<TurnResult> {
      turn = number;
      call = 0;
      const engine = await resolveContextEngine({
        registry,
        config: { plugins: { slots: { contextEngine: engineId } } },
      });
      return runTurn({
        engine,
        ports,
        state,
        model: MODEL,
        systemPrompt: [{ id: "base", text: "You are a test." }],
        prompt: { content: `q${number} please` },
      });
    },
  };
}

/** Turn 1: a tool, then an overflow, then the answer; other turns: the answer. */
function replyTo(turn: number, call: number): StreamEvent {
  const partial: AssistantMessage = { role: "assistant", content: [], stopReason: "error" };
  if (turn === 1 && call === 1)
    return { type: "error", error: { kind: "overflow", message: "too long" }, partial };
  const message: AssistantMessage =
    turn === 1 && call === 0
      ? {
          role: "assistant",
          content: [{ type: "toolCall", id: "c1.0", name: "t", arguments: {} }],
          stopReason: "toolUse",
        }
      : {
          role: "assistant",
          content: [{ type: "text", text: `r${turn} done` }],
          stopReason: "stop",
        };
  return { type: "done", message };
}

const contents = (messages: readonly AgentMessage[]) =>
  messages.map(
    (message) =>
      `${messageId(message)} ${message.role} ${JSON.stringify("content" in message && message.content)}`,
  );

function tightBounds() {
  const methods = [
    "factory",
    "bootstrap",
    "maintain",
    "ingest",
    "ingestBatch",
    "afterTurn",
    "commitTurn",
    "assemble",
    "compact",
    "prepareSubagentSpawn",
    "onSubagentEnded",
    "dispose",
  ];
  return Object.fromEntries(methods.map((method) => [method, BOUND_MS]));
}

function inTime<Result>(work: Promise<Result>, what: string): Promise<Result> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} did not come in time`)), PATIENCE_MS);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

/** What every ordeal must end with, whatever the engine did: one sentence per thing that is wrong. */
export function ordealFaults({ results, other, stored, found, requests }: Ordeal): string[] {
  const check = (isRight: boolean, sentence: string) => (isRight ? [] : [sentence]);
  const answers = results.map(({ reply, outcome, error }) =>
    reply === null ? `${outcome}: ${error?.message}` : eventOf(reply),
  );
  return [
    ...check(answers.join() === "r1,r2", `the replies are ${answers.join()}`),
    ...check(
      other.reply !== null && eventOf(other.reply) === "r9" && other.report.engine.ran === "sound",
      `the other session ended as ${other.outcome} by ${other.report.engine.ran}`,
    ),
    ...check(other.report.engine.degraded === null, "the other session's engine is degraded"),
    ...check(
      stored.join("\n") === found.join("\n"),
      `the transcript changed:\n${stored.join("\n")}\nto\n${found.join("\n")}`,
    ),
    ...["q1", "q2"].flatMap((event) =>
      check(
        found.some((line) => line.includes(`"${event} please"`)),
        `${event} is not in the transcript`,
      ),
    ),
    ...requests.flatMap(({ turn, events }) =>
      check(events.includes(`q${turn}`), `a request of turn ${turn} without its prompt: ${events}`),
    ),
  ];
}

/** The operations on record as failed: in the reports, and where the host lists what is set aside. */
export function recordedOperations({ results, registry }: Ordeal): string[] {
  return [
    ...results.flatMap(({ report }) => report.engine.degraded?.operation ?? []),
    ...registry.quarantine.list().map(({ operation }) => operation),
  ];
}

// One process of a test host: it can be told to die, abort, fail or reload at its nth step.

import {
  type AgentMessage,
  type AssistantMessage,
  type CompactResult,
  delegateCompactionToRuntime,
} from "@clew/plugin-sdk/core";
import type { ModelCall, ModelError, ModelRef, StreamEvent } from "@clew/plugin-sdk/host";
import { memoryLog, passThrough } from "../../__fixtures__/host.ts";
import {
  compactSession,
  createEngineRegistry,
  createSessionState,
  type FailurePolicy,
  type HostPorts,
  resolveContextEngine,
  runTurn,
  settleMaintenance,
  type TurnEvent,
  type TurnReport,
  type TurnResult,
  type TurnSettings,
} from "../../index.ts";
import {
  currentSession,
  type Disk,
  eventOf,
  fileOf,
  readBranch,
  SESSION_KEY,
  storeOf,
  type TurnKind,
} from "./disk.ts";
import { type DiskTranscript, type OpenTranscript, openTranscript } from "./disk-transcript.ts";
import { startOfTurns } from "./engine-compaction.ts";
import type { EngineShape } from "./engine-shape.ts";
import { pairingPolicy } from "./pairing-policy.ts";
import { type RewriteWish, recordingEngine } from "./recording-engine.ts";
import { requestFaults } from "./request-faults.ts";

/** What goes wrong at one step of a command. */
export interface Mishap {
  /** Steps are counted from 0 in each command. */
  at: number;
  /** A "slip" is a failure that passes, as of a busy database; a "break" is one for good. */
  kind: "abort" | "crash" | "slip" | "break" | "reload";
}

/** One turn as a test asks for it. */
export interface TurnPlan {
  kind: TurnKind;
  /** Tool calls the model makes before it answers. */
  tools: number;
  /** Whether it makes them one reply after the other. */
  oneByOne: boolean;
  /** Which of its calls the provider refuses once. */
  failure?: { call: number; kind: ModelError["kind"]; partial: boolean } | undefined;
  mishap?: Mishap | undefined;
  wish?: RewriteWish | undefined;
  /** Whether maintenance behind the reply goes on until it is told to stop. */
  hangs?: boolean;
  /** Whether the prompt is a stored message that is sent again, with all that stands on it. */
  isSentAgain?: boolean;
}

/** What really happened in one command, to compare the report with. */
export interface Facts {
  modelCalls: number;
  toolRuns: string[];
  engineCalls: { engineId: string; method: string; ok: boolean }[];
  compacted: number;
  abortedAt: number | undefined;
  /** Name of the step at which the mishap fired. */
  mishapAt: string | undefined;
  /** Whether an engine was asked to tidy up behind the reply. */
  isTidied: boolean;
  /** What the host logged of maintenance behind the reply. */
  brokeBehind: string[];
  events: TurnEvent[];
  /** What was wrong with model requests, as sentences. */
  wrong: string[];
}

export interface ProcessOptions {
  engines: readonly EngineShape[];
  /** Engine id in the slot. */
  configured: string;
  policy: FailurePolicy;
  model: ModelRef;
  settings?: Partial<TurnSettings>;
  /** How long reads of the transcript take, one after the other. Absent: no time. */
  pace?: readonly number[] | undefined;
  /** Where transcripts are. Absent: on the disk. */
  open?: OpenTranscript | undefined;
  /** Numbers turns over all processes, so that no two prompts are alike. */
  nextTurn(): number;
}

/** Undefined: the process died meanwhile. */
export interface TurnOutcome {
  number: number;
  plan: TurnPlan;
  result: TurnResult | undefined;
  facts: Facts;
}

export interface CompactOutcome {
  report: TurnReport | undefined;
  facts: Facts;
}

const NEVER = new Promise<never>(() => {});
/** No command takes so many. */
const MAX_STEPS = 2_000;
/** Short, as maintenance that hangs is waited for by the next turn. */
const MAINTENANCE_WAIT_MS = 3;

export function startProcess(disk: Disk, options: ProcessOptions) {
  const log = memoryLog();
  let ids = 0;
  let reads = 0;
  const clock = { now: () => ++disk.next, monotonic: () => 0 };
  const registry = createEngineRegistry({
    fallback: () => passThrough({ compact: delegateCompactionToRuntime }),
    log,
    clock,
    failurePolicy: () => options.policy,
  });
  const state = createSessionState();
  const settings = { maintenanceWaitMs: MAINTENANCE_WAIT_MS, ...options.settings };
  const open = options.open ?? openTranscript;
  let transcript: DiskTranscript = open(disk, currentSession(disk), owner());

  let isAlive = true;
  let die = () => {};
  const died = new Promise<undefined>((resolve) => {
    die = () => {
      isAlive = false;
      resolve(undefined);
    };
  });
  let configured = options.configured;
  let steps: string[] = [];
  let facts = newFacts();
  let goesRound: (error: Error) => void = () => {};
  const rounds = new Promise<never>((_, reject) => {
    goesRound = reject;
  });
  rounds.catch(() => {});
  let turn: { number: number; plan: TurnPlan; position: number; mayFail: boolean } | undefined;
  let mishap: Mishap | undefined;
  let wish: RewriteWish | undefined;
  let hang = false;
  let onHang = () => {};
  let hung: Promise<void> = NEVER;
  let abort = new AbortController();

  async function step(name: string): Promise<void> {
    if (!isAlive) return NEVER;
    const at = steps.push(name) - 1;
    if (at === MAX_STEPS) goesRound(new Error(`it goes round in circles: ${steps.slice(-12)}`));
    if (at >= MAX_STEPS) return NEVER;
    // Every step takes a moment, as real ones do.
    await Promise.resolve();
    if (mishap?.at !== at) return isAlive ? undefined : NEVER;
    const { kind } = mishap;
    if ((kind === "slip" || kind === "break") && !name.startsWith("engine ")) return;
    facts.mishapAt = name;
    switch (kind) {
      case "crash":
        die();
        return NEVER;
      case "abort":
        facts.abortedAt = at;
        abort.abort();
        return;
      case "slip":
        throw new Error("SQLITE_BUSY: database is locked");
      case "break":
        throw new Error("the engine is broken");
      case "reload":
        for (const shape of options.engines) register(shape);
    }
  }

  function owner() {
    return {
      step: (name: string) => step(name),
      reading: () => moments(options.pace?.[reads++ % options.pace.length] ?? 0),
      turnKind: () => turn?.plan.kind ?? "user",
    };
  }

  /** What stands on the newest prompt. */
  const envelopeNow = () =>
    transcript
      .branch()
      .flatMap((entry) =>
        entry.type === "message" && entry.message.role === "user" ? [entry.message.__openclaw] : [],
      )
      .at(-1) ?? {};

  const isStored = (event: string) =>
    transcript
      .branch()
      .some((entry) => entry.type === "message" && eventOf(entry.message) === event);

  function register(shape: EngineShape): void {
    const store = storeOf(disk, shape.id);
    registry.register({
      engineId: shape.id,
      owner: `plugin:${shape.id}`,
      allowSameOwnerRefresh: true,
      factory: () =>
        recordingEngine(shape, {
          disk,
          store,
          step,
          now: () => steps.length,
          abortedAt: () => facts.abortedAt,
          begin(method) {
            const { engineCalls } = facts;
            return (ok) => void engineCalls.push({ engineId: shape.id, method, ok });
          },
          compacted: () => void facts.compacted++,
          hasCompacted: () => facts.compacted > 0,
          isBeforeTurn: () => turn !== undefined && !isStored(`q${turn.number}`),
          takeHang() {
            facts.isTidied = true;
            const taken = hang;
            hang = false;
            if (taken) onHang();
            return taken;
          },
          takeWish() {
            const taken = wish;
            wish = undefined;
            return taken;
          },
        }),
    });
  }
  for (const shape of options.engines) register(shape);

  const ports = (): HostPorts => ({
    transcript,
    model: { stream: answer, complete: unused },
    policy: pairingPolicy,
    tools: {
      list: () => [{ name: "t", description: "test", parameters: { type: "object" } }],
      async run({ call }) {
        await step("tool");
        facts.toolRuns.push(call.id);
        await step("tool:done");
        return { content: [{ type: "text", text: `x ${call.id}` }], isError: false };
      },
    },
    compaction: { compact: builtIn },
    successors: {
      async adopt({ from, sessionId, sessionFile = fileOf(sessionId), prepare }) {
        await step("adopt");
        if (disk.current.get(from.sessionKey) !== from.sessionId) return undefined;
        const successor = open(disk, { ...from, sessionId, sessionFile }, owner());
        await successor.ready;
        await prepare(successor);
        disk.current.set(from.sessionKey, sessionId);
        transcript = successor;
        facts.compacted++;
        await step("adopt:done");
        return transcript;
      },
    },
    log,
    clock,
    ids: { next: () => `id-${disk.next++}-${ids++}`, hash },
  });

  async function* answer(call: ModelCall): AsyncIterable<StreamEvent> {
    facts.modelCalls++;
    const { number, plan, position } = turn!;
    facts.wrong.push(
      ...requestFaults(call.messages, transcript.branch(), number, {
        wasRewritten: steps.includes("rewrite"),
      }),
    );
    facts.wrong.push(...toldTooEarly(number));
    await step("model");
    if (call.signal.aborted) {
      yield abortedWith([]);
      return;
    }
    const isDue = turn!.mayFail && plan.failure?.call === facts.modelCalls - 1;
    const failure = isDue ? plan.failure : undefined;
    const partial: AssistantMessage = {
      role: "assistant",
      content: failure?.partial ? [{ type: "text", text: `p${number}` }] : [],
      stopReason: "error",
    };
    if (failure) {
      turn!.mayFail = false;
      yield {
        type: "error",
        error: { kind: failure.kind, message: `no: ${failure.kind}` },
        partial,
      };
      return;
    }
    const message = replyOf(number, plan, position);
    await step("model:done");
    if (call.signal.aborted) {
      yield abortedWith(partial.content);
      return;
    }
    turn!.position++;
    yield { type: "done", message };
  }

  /** Only owners are told of a turn before it is over. */
  function toldTooEarly(number: number): string[] {
    const shape = options.engines.find(({ id }) => id === configured);
    if (shape === undefined || shape.ownsCompaction) return [];
    return storeOf(disk, shape.id).rows.flatMap(({ event, isHeartbeat }) =>
      event === `q${number}` && isHeartbeat !== undefined
        ? [`${shape.id} was given ${event} before its turn was over`]
        : [],
    );
  }

  async function builtIn(): Promise<CompactResult> {
    await step("built-in compaction");
    const branch = transcript.branch();
    const start = startOfTurns(branch, 1);
    const already = branch.findLastIndex((entry) => entry.type === "compaction");
    if (start === 0 || start <= already)
      return { ok: true, compacted: false, code: "nothing-to-compact", reason: "too short" };
    await transcript.append([
      {
        type: "compaction",
        summary: "short",
        firstKeptEntryId: branch[start]!.id,
        tokensBefore: 9,
      },
    ]);
    facts.compacted++;
    return { ok: true, compacted: true, result: { tokensBefore: 100, tokensAfter: 10 } };
  }
  function begin(plan: Partial<Pick<TurnPlan, "mishap" | "wish" | "hangs">>) {
    steps = [];
    facts = newFacts();
    mishap = plan.mishap;
    wish = plan.wish;
    hang = plan.hangs ?? false;
    hung = new Promise((resolve) => {
      onHang = resolve;
    });
    abort = new AbortController();
    for (const { id } of options.engines) storeOf(disk, id).recent = [];
  }

  const resolved = () =>
    resolveContextEngine({
      registry,
      config: { plugins: { slots: { contextEngine: configured } } },
    });

  /** What was acknowledged in a process that died may not have been written down. */
  function forgetIfDead(): void {
    if (isAlive) return;
    for (const { id } of options.engines) {
      const store = storeOf(disk, id);
      for (const one of store.recent) {
        if (disk.deliveries.isWritten(id, one)) continue;
        store.acknowledged.set(one, (store.acknowledged.get(one) ?? 1) - 1);
        store.doubtful.add(one);
      }
      store.recent = [];
    }
  }

  async function close<Result>(work: Promise<Result>): Promise<Result | undefined> {
    const result = await inTime(Promise.race([work, died, rounds]), () => steps.join());
    const lines = log.lines.length;
    // The run is over: what its signal says now is nobody's business.
    abort.abort();
    if (isAlive) {
      const { active } = state.maintenance;
      await inTime(Promise.race([active, hung, died]), () => `maintenance after ${steps.join()}`);
    }
    facts.brokeBehind = log.lines.slice(lines).filter((line) => line.includes("maintenance"));
    forgetIfDead();
    mishap = undefined;
    wish = undefined;
    hang = false;
    return isAlive ? result : undefined;
  }

  return {
    log,
    registry,
    isAlive: () => isAlive,
    configured: () => configured,
    /** Names of the steps of the last command. */
    steps: () => steps,
    branch: () => readBranch(disk, currentSession(disk).sessionFile),
    use(engineId: string) {
      configured = engineId;
    },
    reload: register,
    async goBack(turns: number) {
      await transcript.ready;
      const branch = transcript.branch();
      const start = startOfTurns(branch, turns);
      await transcript.moveLeaf(branch[start - 1]?.id ?? null);
      state.measurement = undefined;
    },
    async say(plan: TurnPlan): Promise<TurnOutcome> {
      await transcript.ready;
      begin(plan);
      const number = options.nextTurn();
      turn = { number, plan, position: 0, mayFail: plan.failure !== undefined };
      const own = facts;
      const work = resolved().then((engine) =>
        runTurn({
          engine,
          ports: ports(),
          state,
          model: options.model,
          systemPrompt: [{ id: "base", text: "You are a test." }],
          prompt: {
            ...(plan.isSentAgain && { __openclaw: envelopeNow() }),
            content: `q${number} please`,
          },
          kind: plan.kind,
          settings,
          signal: abort.signal,
          onEvent: (event) => own.events.push(event),
        }),
      );
      const result = await close(work);
      turn = undefined;
      return { number, plan, result, facts: own };
    },
    async compact(plan: { mishap?: Mishap | undefined }): Promise<CompactOutcome> {
      await transcript.ready;
      begin(plan);
      const own = facts;
      const work = resolved().then((engine) =>
        compactSession({
          engine,
          ports: ports(),
          state,
          model: options.model,
          settings,
          signal: abort.signal,
        }),
      );
      const done = await close(
        work.then(
          ({ report }) => report,
          (error: unknown) => {
            if (own.abortedAt === undefined) throw error;
            return undefined;
          },
        ),
      );
      return { report: done, facts: own };
    },
    /** Ends it in order. */
    async stop() {
      await settleMaintenance(state.maintenance, MAINTENANCE_WAIT_MS);
      await registry.dispose();
    },
    sessionKey: SESSION_KEY,
  };
}

const abortedWith = (content: AssistantMessage["content"]): StreamEvent => ({
  type: "error",
  error: { kind: "aborted", message: "aborted" },
  partial: { role: "assistant", content, stopReason: "aborted" },
});

export type TestProcess = ReturnType<typeof startProcess>;

async function moments(count: number): Promise<void> {
  for (let left = count; left > 0; left--) await Promise.resolve();
}

const newFacts = (): Facts => ({
  modelCalls: 0,
  toolRuns: [],
  engineCalls: [],
  compacted: 0,
  abortedAt: undefined,
  mishapAt: undefined,
  isTidied: false,
  brokeBehind: [],
  events: [],
  wrong: [],
});

/** A command that takes longer than this will not end any more. */
const PATIENCE_MS = 20_000;

function inTime<Result>(work: Promise<Result>, sofar: () => string): Promise<Result> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it hangs after ${sofar()}`)), PATIENCE_MS);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

/** Tool calls first, as the plan has them, then the answer. */
function replyOf(number: number, plan: TurnPlan, position: number): AssistantMessage {
  const names = Array.from({ length: plan.tools }, (_, index) => `c${number}.${index}`);
  const batch = plan.oneByOne ? names.slice(position, position + 1) : position === 0 ? names : [];
  const usage = { input: 50 + position, output: 5, cacheRead: 0, cacheWrite: 0, totalTokens: 55 };
  if (batch.length === 0)
    return {
      role: "assistant",
      content: [{ type: "text", text: `r${number} done` }],
      stopReason: "stop",
      usage,
    };
  return {
    role: "assistant",
    content: batch.map((id) => ({ type: "toolCall" as const, id, name: "t", arguments: {} })),
    stopReason: "toolUse",
    usage,
  };
}

async function unused(): Promise<never> {
  throw new Error("no engine of these tests calls a model");
}

function hash(text: string): string {
  let value = 0;
  for (let index = 0; index < text.length; index++)
    value = (Math.imul(value, 31) + text.charCodeAt(index)) | 0;
  return (value >>> 0).toString(16);
}

export const eventsOf = (messages: readonly AgentMessage[]) => messages.map(eventOf);

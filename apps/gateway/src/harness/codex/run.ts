// Runs one turn in Codex.
import type {
  ExecutionAnswer,
  ExecutionEvent,
  ExecutionOutcome,
  ExecutionRun,
  ExecutionTurn,
  LogPort,
} from "@clew/engine-core";
import type { ToolCallBlock } from "@clew/plugin-sdk/core";
import type { ModelError } from "@clew/plugin-sdk/host";
import type { CodexConfig } from "../../config/harness.ts";
import { visible } from "../../text/visible.ts";
import { codexEffort, effortOf } from "../effort.ts";
import { createEventQueue } from "../event-queue.ts";
import type { HarnessRequest } from "../harness.ts";
import { createOpenCalls, type Signed } from "../open-calls.ts";
import { answerTo } from "./answers.ts";
import type { Binding, Bindings, ThreadState } from "./binding.ts";
import { endCommands, hearEnds } from "./commands.ts";
import { handOver } from "./hand-over.ts";
import {
  boundAfter,
  planBroken,
  planCompleted,
  planFailed,
  planNotBegun,
  planStopped,
  type TurnEnd,
  type TurnStanding,
} from "./plan-turn-end.ts";
import {
  AnythingSchema,
  ApprovalSchema,
  type CodexTurnError,
  ItemSchema,
  ToolCallSchema,
  TurnStartedSchema,
} from "./protocol.ts";
import { type News, readNews } from "./read-news.ts";
import type { CodexServer } from "./servers.ts";
import { createSilenceWatch } from "./silence.ts";
import { ownCallIn, recordOf, replyIn, SHELL, usageOf } from "./told.ts";
import { toolAnswer } from "./tool-answer.ts";
import { planToolNames } from "./tool-names.ts";

export interface RunOptions {
  turn: ExecutionTurn;
  request: Pick<HarnessRequest, "session" | "approvals">;
  /** Absolute. */
  cwd: string;
  config: CodexConfig;
  bindings: Bindings;
  log: LogPort;
  /** The process that runs the agent's threads; throws HARNESS_UNAVAILABLE. */
  server(): Promise<CodexServer>;
  /** Told how many tokens a model holds, as Codex has it. */
  onWindow(model: string, tokens: number): void;
}

/** How long Codex may take to end a turn that it was told to end. */
const INTERRUPT_MS = 5_000;

export function runTurnInCodex(options: RunOptions): ExecutionRun {
  const { turn, request, config, bindings, log } = options;
  const queue = createEventQueue();
  const { signal } = turn;
  const over = new AbortController();
  const untilOver = AbortSignal.any([signal, over.signal]);
  const signed: Signed = {
    ...{ api: turn.model.api, provider: turn.model.provider, model: turn.model.id },
  };
  const names = planToolNames(turn.tools.map(({ name }) => name));
  /** Ids that the thread holds when the turn is completed. */
  const stored: string[] = turn.turn.flatMap(({ id }) => id ?? []);
  /** Where a tool's outcome goes, by the event that asked for it; oldest first. */
  const calls: ((answer: Extract<ExecutionAnswer, { type: "called" }>) => void)[] = [];
  let server: CodexServer | undefined;
  let threadId: string | undefined;
  let turnId: string | undefined;
  let binding: Binding | null = null;
  let unfollow = () => {};
  let totalTokens = 0;
  let lastError: CodexTurnError | undefined;
  /** Of the newest call, as its provider told; null = it was answered. */
  let refusal: ModelError | null = null;
  let isOver = false;
  let isInterrupting = false;
  let hasAnswered = false;
  let isSilent = false;
  let compactions = 0;
  /** What the thread is when the end was told. */
  let lastState: ThreadState | undefined;
  /** What is told is written down in the order in which it was told. */
  let writing: Promise<void> = Promise.resolve();

  const push = (event: ExecutionEvent) => void (isOver || queue.push(event));
  const notice = (text: string) => push({ type: "notice", text });
  /** What Codex does without asking the gateway to do it. */
  const own = createOpenCalls(signed, push);
  const silence = createSilenceWatch({
    afterMs: config.silenceSeconds * 1000,
    onSilent() {
      isSilent = true;
      interrupt();
    },
  });
  const standing = (): TurnStanding => ({ binding, turnId, hasAnswered, refusal });

  const setState = (state: ThreadState, more: Partial<Binding> = {}) => {
    if (binding === null) return writing;
    const next: Binding = { ...binding, ...more, state };
    binding = next;
    writing = writing
      .then(() => bindings.save(turn.session, next))
      .catch((error: unknown) => {
        log.warn(`what Codex holds of a session could not be written down: ${String(error)}`);
      });
    return writing;
  };

  const end = ({ outcome, state }: TurnEnd) => {
    if (isOver) return;
    const garbage = server?.connection.takeGarbage();
    if (garbage !== undefined)
      notice(
        `Codex wrote ${garbage.count === 1 ? "a line" : `${garbage.count} lines`} that cannot be read: ${visible(garbage.first)}`,
      );
    own.endAll(WITHOUT_RESULT[outcome.status], outcome.status !== "completed");
    isOver = true;
    silence.end();
    signal.removeEventListener("abort", interrupt);
    // What it asked is nobody's to answer any more.
    over.abort();
    unfollow();
    for (const settle of calls.splice(0)) settle(NOT_RUN);
    if (threadId !== undefined && binding === null) void leave(threadId);
    lastState = state;
    queue.push({ type: "end", outcome });
  };
  /**
   * Everything that was told before is in the transcript by now, and so the thread may count it.
   */
  const settle = async (outcome: ExecutionOutcome) => {
    if (lastState === undefined) return writing;
    return setState(lastState, {
      totalTokens,
      ...boundAfter(binding, { outcome, stored, compactions }),
    });
  };
  /** A thread for one turn takes room until nobody follows it. */
  const leave = async (id: string) => {
    server?.loaded.delete(id);
    await server?.connection
      .request("thread/unsubscribe", { threadId: id }, AnythingSchema)
      .catch(() => {});
  };

  const stopped = () => {
    const silentForS = isSilent ? config.silenceSeconds : undefined;
    end(planStopped(standing(), { isAborted: signal.aborted, silentForS }));
  };

  /** The thread has its context for sure once a model has seen it. */
  const noteAnswer = () => {
    if (hasAnswered) return;
    hasAnswered = true;
    if (binding?.state.name === "opening")
      void setState({ name: "running", turnId: turnId ?? null });
  };

  const news = (method: string, params: unknown) => {
    silence.heard();
    const told = readNews(method, params);
    if (told === null) return notice(`Codex told ${method} in a way that cannot be read.`);
    if (told !== undefined) take(told);
  };

  const take = (told: News) => {
    switch (told.method) {
      case "item/agentMessage/delta":
        noteAnswer();
        return turn.onDelta({ type: "text", delta: told.delta });
      case "item/reasoning/summaryTextDelta":
      case "item/reasoning/textDelta":
        noteAnswer();
        return turn.onDelta({ type: "thinking", delta: told.delta });
      case "item/started": {
        const item = ItemSchema.safeParse(told.item);
        const begun = item.success ? ownCallIn(item.data) : undefined;
        if (begun !== undefined) own.begin(begun.call);
        return;
      }
      case "item/completed": {
        const item = ItemSchema.safeParse(told.item);
        if (!item.success) return;
        if (item.data.type === "contextCompaction") {
          compactions++;
          return push({ type: "native-compaction" });
        }
        noteAnswer();
        const reply = replyIn(item.data, signed);
        if (reply !== undefined) return push({ type: "messages", messages: [reply] });
        const ended = ownCallIn(item.data);
        if (ended === undefined) return;
        const isOurs = turnId === undefined || (told.turnId ?? turnId) === turnId;
        if (isOurs) return own.end(ended.call, ended.result);
        return notice(
          `What Codex began in an earlier turn is over: ${visible(JSON.stringify(ended.call.args))}: ${visible(ended.result.text.slice(-LONGEST_LATE)) || "(no output)"}`,
        );
      }
      case "thread/tokenUsage/updated": {
        const { last, total, modelContextWindow } = told.tokenUsage;
        if (modelContextWindow != null) options.onWindow(turn.model.id, modelContextWindow);
        // Told again, or estimated: no call was billed.
        if (total.totalTokens === totalTokens) return;
        totalTokens = total.totalTokens;
        noteAnswer();
        return push({ type: "usage", usage: usageOf(last) });
      }
      case "error":
        lastError = told.error;
        if (told.willRetry) notice(`Codex tries again: ${refusal?.message ?? told.error.message}`);
        return;
      case "turn/completed":
        // A turn that was steered into ours has our id; any other one is none of ours.
        if (turnId === undefined || told.turn.id === turnId) completed(told.turn);
    }
  };

  const completed = ({ status, error, id }: CompletedTurn) => {
    turnId ??= id;
    if (status === "completed") {
      server?.worked();
      const ending = planCompleted(compactions > 0 && turn.engine.ownsCompaction);
      return void withCommands(hearEnds).then(() => end(ending));
    }
    return void withCommands(endCommands).then(() => {
      if (status === "interrupted" && isInterrupting) return stopped();
      return end(planBroken(standing(), { status, told: error ?? lastError }));
    });
  };

  const asked = (method: string, params: unknown): Promise<unknown> =>
    silence.ours(async () => {
      noteAnswer();
      if (method === "item/tool/call") return callTool(params);
      const { itemId, command } = ApprovalSchema.safeParse(params).data ?? {};
      // What a person is asked about is on record before it can run.
      if (itemId != null && command != null)
        own.begin({ id: itemId, name: SHELL, args: { command } });
      await queue.drained();
      const answer = await answerTo(method, params, {
        ...{ session: request.session, approvals: request.approvals, signal: untilOver },
        about: itemId == null ? undefined : own.find(itemId),
      });
      if (answer === undefined) throw new Error(`${method} is not answered here`);
      return answer;
    });

  const callTool = async (params: unknown): Promise<object> => {
    const { callId, tool, arguments: given } = ToolCallSchema.parse(params);
    const name = names.ours(tool) ?? tool;
    const call: ToolCallBlock = {
      ...{ type: "toolCall", id: callId, name, arguments: recordOf(given) },
    };
    const { outcome } = await new Promise<Extract<ExecutionAnswer, { type: "called" }>>(
      (resolve) => {
        if (isOver) return resolve(NOT_RUN);
        calls.push(resolve);
        push({ type: "call", call });
      },
    );
    return toolAnswer(outcome);
  };

  /** Codex ends the turn, and lets its commands run on. */
  const withCommands = async (act: typeof endCommands) => {
    if (server !== undefined && threadId !== undefined)
      await act({ connection: server.connection, threadId, own, log });
  };
  const interrupt = () => {
    if (isOver || isInterrupting) return;
    isInterrupting = true;
    const { connection } = server ?? {};
    if (connection === undefined || threadId === undefined || turnId === undefined)
      return stopped();
    connection.request("turn/interrupt", { threadId, turnId }, AnythingSchema).catch(() => {});
    setTimeout(() => {
      if (isOver) return;
      stopped();
      // Whoever does not stop is stopped.
      void connection.close();
    }, INTERRUPT_MS).unref();
  };

  const drive = async () => {
    server = await options.server();
    if (isOver) return;
    const { connection } = server;
    const ready = await handOver({
      ...{ turn, server, bindings, config, log, notice, cwd: options.cwd },
    });
    if (isOver) return;
    ({ threadId, binding } = ready);
    totalTokens = binding?.totalTokens ?? 0;
    unfollow = server.follow(threadId, {
      ...{ news, asked },
      answered(error) {
        refusal = error;
        // It asks in vain as often as it likes.
        if (error?.kind === "auth") interrupt();
      },
      // The turn after this one has the thread now.
      replaced: () => end({ outcome: { status: "interrupted" }, state: undefined }),
      ended: (sentence) =>
        end(planFailed(standing(), `${sentence.replace(/\.$/, "")} in the middle of a turn.`)),
    });
    push({ type: "handed-over", projection: ready.projection });
    silence.heard();
    const started = await connection.request(
      "turn/start",
      { threadId, input: ready.input, model: turn.model.id, ...effortIn(turn) },
      TurnStartedSchema,
    );
    turnId ??= started.turn.id;
    // Nobody waits for it any more.
    if (isOver)
      return void connection
        .request("turn/interrupt", { threadId, turnId }, AnythingSchema)
        .catch(() => {});
    if (binding?.state.name === "running") await setState({ name: "running", turnId });
    if (signal.aborted) interrupt();
  };

  signal.addEventListener("abort", interrupt, { once: true });
  const driving = drive().catch((error: unknown) => end(planNotBegun(standing(), error)));
  if (signal.aborted) interrupt();

  return {
    async next(answer) {
      if (answer.type === "stored") stored.push(...answer.ids);
      if (answer.type === "called") {
        stored.push(...answer.ids);
        calls.shift()?.(answer);
      }
      const event = await queue.next();
      if (event.type === "end") await settle(event.outcome);
      return event;
    },
    close() {
      interrupt();
      void driving;
    },
  };
}

/** Of a call that nothing was told of when the turn was over. */
const WITHOUT_RESULT: Record<ExecutionOutcome["status"], string> = {
  completed: "It still ran when the turn was over; what came of it is not known here.",
  interrupted: "The turn was stopped while this ran, and so was this.",
  failed: "The turn failed while this ran; what came of it is not known.",
};

/** Of what an earlier turn's call told, in characters. */
const LONGEST_LATE = 500;

const NOT_RUN: Extract<ExecutionAnswer, { type: "called" }> = {
  ...{ type: "called", ids: [] },
  outcome: { content: [{ type: "text", text: "The turn is over." }], isError: true },
};

type CompletedTurn = {
  id: string;
  status: string;
  error?: CodexTurnError | null | undefined;
};

/** As the person chose to have the model think. */
function effortIn(turn: ExecutionTurn): { effort?: string } {
  const effort = effortOf(turn);
  return effort === undefined ? {} : { effort: codexEffort(effort) };
}

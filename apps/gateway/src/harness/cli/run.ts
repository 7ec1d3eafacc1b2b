// Runs one turn in a program that is started for it, and tells what happens until it ends.
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { ExecutionOutcome, ExecutionRun, ExecutionTurn, LogPort } from "@clew/engine-core";
import {
  type AgentMessage,
  ContextEngineError,
  type ImageBlock,
  type TextBlock,
  type Usage,
} from "@clew/plugin-sdk/core";
import type { ModelError } from "@clew/plugin-sdk/host";
import { toModelMessage } from "@clew/plugin-sdk/transcript";
import { isAllowed } from "../../approvals/approval.ts";
import type { CliBackendConfig } from "../../config/harness.ts";
import { writeOwn } from "../../home/own-writes.ts";
import { contentHash } from "../../text/content-hash.ts";
import { visible } from "../../text/visible.ts";
import { effortOf } from "../effort.ts";
import { createEventQueue } from "../event-queue.ts";
import { type AskedProvider, type HarnessRequest, toldBy } from "../harness.ts";
import { createOpenCalls, type Signed } from "../open-calls.ts";
import type { Relay } from "../relay.ts";
import { askPeople } from "./ask-people.ts";
import type { CliBackend, CliEnd, CliEvent, CliTurn } from "./backend.ts";
import { type CliBound, type CliKey, type CliSessions, planSession } from "./sessions.ts";
import { addUsage, lessUsage, NO_USAGE } from "./usage.ts";
import { type Watched, type WatchedProcess, watchProcess } from "./watched-process.ts";

export interface CliRunOptions {
  turn: ExecutionTurn;
  request: Pick<HarnessRequest, "session" | "approvals">;
  backend: CliBackend;
  /** As the settings call it. */
  id: string;
  config: CliBackendConfig;
  command: string;
  /** Absolute. */
  cwd: string;
  sessions: CliSessions;
  log: LogPort;
  /** Resolves when the session's turn before is over. Absent: there is none. */
  before: Promise<void> | undefined;
  environment(own: Record<string, string>): Record<string, string>;
  /** Throws CONFIG_INVALID. */
  provider(): Promise<AskedProvider>;
  relay: Relay;
  /** Throws HARNESS_UNAVAILABLE. */
  version(): Promise<string>;
}

export interface CliRun extends ExecutionRun {
  /** Resolves when nothing of it runs any more. */
  over: Promise<void>;
}

/** Of one result, in characters; the program has the rest. */
const LONGEST_RESULT = 262_144;
/** What one process told, besides what stands in the transcript. */
interface Told {
  hasStarted: boolean;
  repeated: number;
  calls: Map<string, Usage>;
}

export function runTurnInCli(options: CliRunOptions): CliRun {
  const { turn, request, backend, id, config, sessions, log } = options;
  const { name } = backend;
  const { signal } = turn;
  const signed: Signed = {
    ...{ api: turn.model.api, provider: turn.model.provider, model: turn.model.id },
  };
  const queue = createEventQueue();
  const notice = (text: string) => queue.push({ type: "notice", text: visible(text) });
  /** What the program does by itself. */
  const own = createOpenCalls(signed, (event) => queue.push(event));
  const seen = new Set<string>();
  let hasReply = false;
  /** Of the text that is told next, pieces were told. */
  let wasStreamed = false;
  let child: WatchedProcess | undefined;
  let bound: CliBound | null = null;
  /** Of the newest call of its model, as its provider told; null = it was answered. */
  let refusal: ModelError | null = null;
  const toldRetries = new Set<string>();
  let isClosed = false;
  /** What it was given for the turn. */
  const closing: (() => void)[] = [];
  /** What is told is written down in the order in which it was told. */
  let writing: Promise<void> = Promise.resolve();

  const save = (next: CliBound) => {
    bound = next;
    writing = writing
      .then(() => sessions.save(turn.session, next))
      .catch((error: unknown) => {
        log.warn(`what ${id} holds of a session could not be written down: ${String(error)}`);
      });
    return writing;
  };

  /** Ids of what stands in the transcript of the turn, oldest first. */
  const stored = turn.turn.flatMap(({ id }) => id ?? []);
  const said = () => stored.at(-1) ?? turn.before ?? undefined;

  const say = (text: string) => {
    if (!/\S/.test(text)) return;
    // Whoever follows the turn has it piece by piece, or else at once.
    if (!wasStreamed) turn.onDelta({ type: "text", delta: hasReply ? `\n\n${text}` : text });
    wasStreamed = false;
    hasReply = true;
    queue.push({
      type: "messages",
      messages: [
        { role: "assistant", content: [{ type: "text", text }], stopReason: "stop", ...signed },
      ],
    });
  };
  /** One process, until it is gone. */
  const attempt = async (
    cliTurn: CliTurn,
    { key, total, reason }: { key: CliKey; total: Usage | null; reason: string },
  ): Promise<Result> => {
    const told: Told = { hasStarted: false, repeated: 0, calls: new Map() };
    const gone = new AbortController();
    const untilGone = AbortSignal.any([signal, gone.signal]);
    const take = (event: Exclude<CliEvent, CliEnd>): void => {
      switch (event.type) {
        case "started": {
          if (told.hasStarted) return;
          told.hasStarted = true;
          const knowsFrom = cliTurn.ref === null ? turn.turn[0]?.id : bound?.knowsFrom;
          const known = knowsFrom == null ? {} : { knowsFrom };
          queue.push({
            type: "handed-over",
            projection: {
              ...{
                thread: cliTurn.ref === null ? "new" : "continued",
                threadId: event.ref,
                reason,
              },
              ...{ as: "prompt", handed: turn.turn.length, ...known },
            },
          });
          void save({
            ...{ v: 1, sessionKey: turn.session.sessionKey, key, ref: event.ref, total },
            ...{ over: null, through: said(), ...known },
          });
          return;
        }
        case "delta":
          if (event.kind === "text") wasStreamed = true;
          turn.onDelta({ type: event.kind, delta: event.delta });
          return;
        case "text":
          if (isNew(`text ${event.id}`)) say(event.text);
          return;
        case "call":
          if (own.find(event.id) === undefined && isNew(`call ${event.id}`)) own.begin(event);
          return;
        case "result": {
          if (!isNew(`result ${event.id}`)) return;
          const { id: callId, text, isError } = event;
          own.end({ id: callId, name: "unknown", args: {} }, { text: shortened(text), isError });
          return;
        }
        case "call-usage":
          told.calls.set(event.id, event.usage);
          return;
        case "compaction":
          notice(event.text);
          queue.push({ type: "native-compaction" });
          return;
        case "notice":
          notice(event.text);
          return;
        case "ask":
          void permit(event);
      }
    };
    /** Said twice is stored once. */
    const isNew = (what: string) => {
      if (seen.has(what)) {
        told.repeated++;
        return false;
      }
      seen.add(what);
      return true;
    };
    const permit = async (asked: Extract<CliEvent, { type: "ask" }>) => {
      const goOn = child?.waitForUs();
      // What a person is asked about is on record before it can run.
      await queue.drained();
      const allowed = isAllowed(await askPeople(request, id, untilGone, asked));
      child?.write(backend.answer(asked, allowed));
      goOn?.();
    };
    child = watchProcess({
      ...{ backend, config, onEvent: take },
      process: {
        ...{ command: options.command, args: backend.args(cliTurn), cwd: cliTurn.cwd },
        env: options.environment(backend.env(cliTurn)),
        ...{ stdin: backend.stdin(cliTurn), keepsStdin: backend.listens(cliTurn) },
      },
    });
    if (signal.aborted || isClosed) child.stop();
    const watched = await child.ended;
    child = undefined;
    // What it asked is nobody's to answer any more.
    gone.abort();
    return { ...watched, ...told };
  };

  /** What there is to say once nothing can come any more. */
  const settle = async (result: Result, total: Usage | null): Promise<ExecutionOutcome> => {
    own.endAll(
      signal.aborted || isClosed
        ? "The turn was stopped while this ran, and so was this."
        : `${name} ended before it told what came of this call.`,
    );
    const { garbage, repeated, ends, calls, stopped, end } = result;
    if (garbage !== null)
      notice(`${name} wrote ${lines(garbage.count)} that cannot be read: ${garbage.first}`);
    if (repeated > 0) notice(`${name} said ${lines(repeated)} again; each stands once.`);
    if (ends.length > 1) notice(`${name} told ${ends.length} ends; the last one counts.`);
    const last = ends.at(-1);
    if (last?.error === null && !hasReply && last.reply !== undefined) say(last.reply);
    const told = last?.usage ?? null;
    const isSum = backend.usage === "session";
    const usage = told === null ? sumOf(calls) : isSum ? lessUsage(told, total) : told;
    if (usage !== null && usage.totalTokens > 0) queue.push({ type: "usage", usage });
    if (isSum && told !== null && bound !== null) await save({ ...bound, total: told });
    if (last?.error === null) return { status: "completed" };
    if (signal.aborted || isClosed) return { status: "interrupted" };
    const failure = last === undefined ? refusal : toldBy(last.error!, refusal);
    if (failure !== null && stopped === null) {
      if (failure.kind === "overflow" && bound !== null)
        await save({ ...bound, over: "what it held was too large for its model" });
      return { status: "failed", error: failure };
    }
    const { kind, message } = whyEnded(result, name);
    const [saysWhy] = end.stderr;
    if (saysWhy) log.warn(`${id} ended without a result`, { stderr: end.stderr });
    return { status: "failed", code: "HARNESS_FAILED", error: { kind, message } };
  };

  const drive = async (): Promise<ExecutionOutcome> => {
    const version = await options.version();
    const asked = await options.provider();
    await options.before;
    if (signal.aborted || isClosed) return { status: "interrupted" };
    const instructions = turn.system.map(({ text }) => text).join("\n\n");
    const key: CliKey = {
      ...{ sessionId: turn.session.sessionId, cwd: options.cwd, version },
      instructions: contentHash(instructions),
      provider: contentHash(JSON.stringify([asked.name, asked.baseUrl])),
    };
    const plan = planSession(await sessions.read(turn.session), { key, before: turn.before });
    if (plan.kind === "new" && plan.reason !== null) notice(anew(name, plan.reason));
    const folder = sessions.folderOf(turn.session);
    const place = await options.relay.open({
      ...{ ...asked, baseUrl: backend.baseOf(asked.baseUrl) },
      answered({ failure }) {
        const before = refusal === null ? "" : `${refusal.kind} ${refusal.status ?? ""}`;
        if (refusal !== null && !toldRetries.has(before)) {
          toldRetries.add(before);
          notice(`${name} tried again: ${refusal.message}`);
        }
        refusal = failure === null ? null : asked.describe(failure);
        // It asks in vain as often as it likes.
        if (refusal?.kind === "auth") child?.stop();
      },
    });
    closing.push(place.close);
    const base = {
      ...{ ...saidIn(turn), model: turn.model.id, instructions, folder },
      provider: { ...place, name: asked.name },
      ...{ cwd: options.cwd, config, effort: effortOf(turn) },
      canAsk: config.permissions === "ask" && request.approvals !== undefined,
    };
    const begin = async (
      ref: string | null,
      total: Usage | null,
      reason: string,
    ): Promise<Result> => {
      const cliTurn: CliTurn = { ...base, ref };
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const files = Object.entries(backend.files(cliTurn));
      for (const [file, content] of files) await writeOwn(join(folder, file), Buffer.from(content));
      try {
        return await attempt(cliTurn, { key, total, reason });
      } finally {
        // The transcript has the images.
        for (const [file, content] of files)
          if (typeof content !== "string") await rm(join(folder, file), { force: true });
      }
    };
    if (plan.kind === "resume") {
      bound = plan.bound;
      // A turn that is over before it began leaves nothing to be known.
      await save({ ...bound, through: said() });
      const result = await begin(bound.ref, bound.total, "nothing of it changed");
      if (refusal !== null || !isRefused(result) || signal.aborted || isClosed)
        return settle(result, plan.bound.total);
      notice(anew(name, UNKNOWN));
      bound = null;
    }
    const reason = (plan.kind === "new" ? plan.reason : UNKNOWN) ?? "there was none";
    return settle(await begin(null, null, reason), null);
  };

  const stop = () => child?.stop();
  signal.addEventListener("abort", stop, { once: true });
  const over = drive()
    .catch((error: unknown): ExecutionOutcome => {
      if (signal.aborted || isClosed) return { status: "interrupted" };
      const message = error instanceof Error ? error.message : String(error);
      const code = ContextEngineError.is(error) ? error.code : "HARNESS_FAILED";
      return { status: "failed", code, error: { kind: "unavailable", message } };
    })
    .then(async (outcome) => {
      for (const close of closing) close();
      await writing;
      signal.removeEventListener("abort", stop);
      queue.push({ type: "end", outcome });
    });
  return {
    over,
    async next(answer) {
      if (answer.type === "stored") stored.push(...answer.ids);
      const event = await queue.next();
      if (event.type === "end" && bound !== null && bound.through !== said())
        await save({ ...bound, through: said() });
      // By which session it goes on is durable before anything of it is.
      await writing;
      return event;
    },
    close() {
      isClosed = true;
      stop();
    },
  };
}

interface Result extends Watched, Told {}

/** A session that cannot be resumed ends before anything of it was told, in all versions. */
const isRefused = ({ hasStarted, stopped, end, ends }: Result): boolean =>
  !hasStarted &&
  stopped === null &&
  end.error === undefined &&
  ends.every(({ error }) => error !== null);

function whyEnded(
  { stopped, end: { how, error, stderr } }: Watched,
  name: string,
): { kind: "timeout" | "invalid_response" | "unavailable"; message: string } {
  if (stopped !== null)
    return { kind: stopped.kind, message: `${stopped.why}, so it was stopped.` };
  const said = stderr.at(-1)?.replace(/\.$/, "");
  const lastWords = said === undefined ? "" : `; it said last: ${said}`;
  const message =
    error === undefined
      ? `${name} ended without a result (${how})${lastWords}.`
      : `${name} could not be run: ${error.message}.`;
  return { kind: "unavailable", message };
}

const UNKNOWN = "it does not know the one there was";

const anew = (name: string, reason: string) =>
  `${name} begins a new session, which knows nothing of what was said before: ${reason}.`;

const lines = (count: number) => (count === 1 ? "a line" : `${count} lines`);

function sumOf(calls: ReadonlyMap<string, Usage>): Usage | null {
  return calls.size === 0 ? null : [...calls.values()].reduce(addUsage, NO_USAGE);
}

const shortened = (text: string): string =>
  text.length <= LONGEST_RESULT
    ? text
    : `${text.slice(0, LONGEST_RESULT).toWellFormed()}\n(${text.length - LONGEST_RESULT} characters more, which the program has)`;

/** What the person said; its own session has the rest. */
function saidIn({ turn }: ExecutionTurn): Pick<CliTurn, "prompt" | "images"> {
  const blocks = turn.flatMap(({ message }) => blocksIn(message));
  const texts = blocks.flatMap((block) => (block.type === "text" ? [block.text] : []));
  const images = blocks.filter((block) => block.type === "image");
  return { prompt: texts.join("\n\n"), images };
}

const blocksIn = (message: AgentMessage): readonly (TextBlock | ImageBlock)[] => {
  const said = toModelMessage(message);
  if (said?.role !== "user") return [];
  const { content } = said;
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
};

// Stands in for `codex app-server` in tests.

import { spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { isAlive } from "./alive.ts";

type Json = Record<string, unknown>;

/** What goes wrong, as a file says at the moment it is needed. */
export interface Faults {
  version?: string;
  /** Methods that are answered with an error. */
  refuse?: string[];
  /** The process ends when this is asked for, or told. */
  dieAt?: string;
  /** A line that is no message, before each turn. */
  garbage?: boolean;
  /** A line without an end, in each turn. */
  endless?: boolean;
  /** Items and news that nobody knows, in each turn. */
  unknown?: boolean;
  /** Nothing is said after a turn was begun, and nothing ends it. */
  mute?: boolean;
  /** `thread/started` comes after the answer to the next request. */
  late?: boolean;
  /** A change of a file begins in each turn, and its end is never told. */
  startsAChange?: boolean;
  /** Asks for permission to run this before it answers. */
  command?: string;
}

interface Item extends Json {
  /** The turn it came with; absent: it was injected. */
  turnId?: string;
}

interface Thread {
  id: string;
  base: string;
  developer: string;
  history: Item[];
  /** Before a compaction, so that it can be reverted. */
  before: { turnId: string; history: Item[] }[];
  tools: Json[];
  model: string;
  window: number;
  ephemeral: boolean;
  lastTokens: number;
  total: number;
}

const home = process.env.CODEX_HOME ?? "";
const folder = join(home, "fake-threads");
const faultFile = process.env.CODEX_FAKE_FAULTS ?? "";
const baseUrl = /base_url = "([^"]*)"/.exec(readFileSync(join(home, "config.toml"), "utf8"))?.[1];
const threads = new Map<string, Thread>();
const asking = new Map<number, (result: Json) => void>();
let running: { threadId: string; turnId: string; stop: AbortController } | undefined;
let nextId = 0;
let asked = 0;

mkdirSync(folder, { recursive: true });

const faults = (): Faults =>
  existsSync(faultFile) ? (JSON.parse(readFileSync(faultFile, "utf8")) as Faults) : {};
const write = (message: Json) => void process.stdout.write(`${JSON.stringify(message)}\n`);
const tell = (method: string, params: Json) => {
  if (faults().dieAt === method) process.exit(9);
  write({ method, params, emittedAtMs: 0 });
};
const newId = (what: string) => `${what}-${process.pid}-${nextId++}`;
const fileOf = (id: string) => join(folder, `${id}.json`);
const lockOf = (id: string) => join(folder, `${id}.lock`);

function save(thread: Thread): void {
  if (!thread.ephemeral) writeFileSync(fileOf(thread.id), JSON.stringify(thread));
}

/** One process at a time writes to a thread. */
function lock(id: string): void {
  try {
    symlinkSync(String(process.pid), lockOf(id));
  } catch {
    const owner = Number(readlinkSync(lockOf(id)));
    if (owner !== process.pid && isAlive(owner))
      throw refused(`thread ${id} already has an active writer`);
    rmSync(lockOf(id), { force: true });
    symlinkSync(String(process.pid), lockOf(id));
  }
}

class Refused extends Error {}
const refused = (message: string) => new Refused(message);

function threadOf(params: Json): Thread {
  const thread = threads.get(String(params.threadId));
  if (thread === undefined) throw refused(`thread not found: ${String(params.threadId)}`);
  return thread;
}

function openThread(params: Json): Json {
  asksNobody = params.approvalPolicy === "never";
  const config = (params.config ?? {}) as Json;
  const names = ((params.dynamicTools ?? []) as Json[]).map(({ name }) => String(name));
  for (const [at, name] of names.entries()) {
    if (name === "mcp" || name.startsWith("mcp__"))
      throw refused(`dynamic tool name is reserved: ${name}`);
    if (!/^[a-zA-Z0-9_-]+$/.test(name))
      throw refused(`dynamic tool name must match ^[a-zA-Z0-9_-]+$: ${name}`);
    if (names.indexOf(name) !== at) throw refused(`duplicate dynamic tool name: ${name}`);
  }
  const thread: Thread = {
    ...{ id: newId("thread"), base: String(params.baseInstructions ?? "") },
    developer: String(params.developerInstructions ?? ""),
    ...{ history: [], before: [], tools: (params.dynamicTools ?? []) as Json[] },
    ...{ model: String(params.model), window: Number(config.model_context_window ?? 258_400) },
    ...{ ephemeral: params.ephemeral === true, lastTokens: 0, total: 0 },
  };
  threads.set(thread.id, thread);
  if (!thread.ephemeral) lock(thread.id);
  save(thread);
  const started = () => tell("thread/started", { thread: { id: thread.id } });
  if (faults().late) setTimeout(started, 20);
  else started();
  return { thread: { id: thread.id } };
}

function resumeThread(params: Json): Json {
  asksNobody = params.approvalPolicy === "never";
  const id = String(params.threadId);
  if (!threads.has(id)) {
    if (!existsSync(fileOf(id))) throw refused(`no rollout found for thread id ${id}`);
    lock(id);
    const thread = JSON.parse(readFileSync(fileOf(id), "utf8")) as Thread;
    // The base may be another one after a restart; the developer's text is frozen.
    if (params.baseInstructions != null) thread.base = String(params.baseInstructions);
    threads.set(id, thread);
  }
  return { thread: { id } };
}

function revert(params: Json): Json {
  const thread = threadOf(params);
  const turnId = String(params.beforeTurnId);
  const compacted = thread.before.find((each) => each.turnId === turnId);
  const history = compacted?.history ?? thread.history;
  const at = history.findIndex((item) => item.turnId === turnId);
  thread.history = at < 0 ? history : history.slice(0, at);
  thread.before = thread.before.filter((each) => each.turnId !== turnId);
  save(thread);
  return { thread: { id: thread.id } };
}

const text = (role: string, content: string): Item => ({
  ...{ type: "message", role },
  content: [{ type: role === "assistant" ? "output_text" : "input_text", text: content }],
});

function inputOf(thread: Thread): Item[] {
  const isRendered = thread.history.some(({ isDeveloper }) => isDeveloper === true);
  return [
    ...(thread.base === "" ? [] : [text("developer", thread.base)]),
    ...(thread.developer === "" || isRendered ? [] : [text("developer", thread.developer)]),
    ...thread.history.map(({ turnId: _turn, isDeveloper: _mark, ...item }) => item),
  ];
}

/** What one model call gave; throws what ends the turn. */
async function callModel(
  thread: Thread,
  turnId: string,
  input: Item[],
  tools: Json[],
  kind: string,
): Promise<Item[]> {
  const response = await fetch(`${baseUrl}/responses`, {
    method: "POST",
    headers: {
      ...{ "content-type": "application/json" },
      authorization: `Bearer ${process.env.CLEW_MODEL_KEY ?? ""}`,
      "x-codex-turn-metadata": JSON.stringify({ request_kind: kind, turn_id: turnId }),
    },
    body: JSON.stringify({
      ...{ model: thread.model, input, tools, stream: true, store: false },
      prompt_cache_key: thread.id,
    }),
    signal: running?.stop.signal ?? null,
  });
  const body = await response.text();
  if (!response.ok) throw new ModelFailure(response.status, body);
  const items: Item[] = [];
  for (const line of body.split("\n")) {
    if (!line.startsWith("data: ")) continue;
    const event = JSON.parse(line.slice(6)) as Json;
    if (event.type === "response.output_text.delta")
      tell("item/agentMessage/delta", { ...of(thread, turnId), delta: event.delta });
    if (event.type === "response.output_item.done") items.push(event.item as Item);
    if (event.type === "response.completed") {
      const usage = (event.response as Json).usage as Json;
      thread.lastTokens = Number(usage.total_tokens);
      thread.total += thread.lastTokens;
      usages.push([Number(usage.input_tokens), Number(usage.output_tokens)]);
    }
  }
  return items;
}

const usages: [number, number][] = [];
const of = (thread: Thread, turnId: string) => ({ threadId: thread.id, turnId });

function tellUsage(thread: Thread, turnId: string): void {
  for (const [input, output] of usages.splice(0)) {
    const tokens = { inputTokens: input, cachedInputTokens: 0, outputTokens: output };
    const last = { ...tokens, totalTokens: input + output };
    const total = { ...tokens, totalTokens: thread.total };
    const tokenUsage = { last, total, modelContextWindow: 0.95 * thread.window };
    tell("thread/tokenUsage/updated", { ...of(thread, turnId), tokenUsage });
    // Told a second time, as the real one does.
    tell("thread/tokenUsage/updated", { ...of(thread, turnId), tokenUsage });
  }
}

class ModelFailure extends Error {
  readonly status: number;
  readonly isOverflow: boolean;

  constructor(status: number, body: string) {
    super(`unexpected status ${status}`);
    this.status = status;
    this.isOverflow = body.includes("context_length_exceeded");
  }
}

const COMPACT = "You are performing a CONTEXT CHECKPOINT COMPACTION.";

async function compact(thread: Thread, turnId: string): Promise<void> {
  if (thread.lastTokens < 0.9 * 0.95 * thread.window) return;
  const item = { type: "contextCompaction", id: newId("item") };
  tell("item/started", { ...of(thread, turnId), item });
  const before = thread.history;
  const answer = await callModel(
    thread,
    turnId,
    [...inputOf(thread), text("user", COMPACT)],
    [],
    "compaction",
  );
  const users = before.filter(({ role }) => role === "user");
  const mark = { ...text("developer", thread.developer), isDeveloper: true };
  const summary = text("user", `Another language model produced a summary: ${textIn(answer)}`);
  thread.before.push({ turnId, history: before });
  thread.history = [
    ...users.slice(0, -1),
    ...(thread.developer === "" ? [] : [mark]),
    ...users.slice(-1),
    { ...summary, turnId },
  ];
  thread.lastTokens = 0;
  save(thread);
  tellUsage(thread, turnId);
  tell("item/completed", { ...of(thread, turnId), item });
}

const textIn = (items: Item[]): string =>
  items
    .flatMap(({ content }) => (Array.isArray(content) ? (content as Json[]) : []))
    .map((part) => String(part.text))
    .join("");

async function runTurn(thread: Thread, turnId: string, input: Json[]): Promise<void> {
  const turn = of(thread, turnId);
  const { garbage, endless, unknown, mute, command } = faults();
  tell("turn/started", { ...turn, turn: { id: turnId, status: "inProgress" } });
  if (garbage) process.stdout.write("this is { no message\n");
  if (unknown) {
    tell("some/newThing", { ...turn, whatever: [1, 2] });
    tell("item/completed", { ...turn, item: { type: "hologram", id: "h1", beam: true } });
  }
  await compact(thread, turnId);
  const content = input.map((part) =>
    part.type === "image"
      ? { type: "input_image", image_url: part.url }
      : { type: "input_text", text: part.text },
  );
  thread.history.push({ type: "message", role: "user", content, turnId });
  save(thread);
  tell("item/completed", { ...turn, item: { type: "userMessage", id: newId("item") } });
  if (endless)
    for (;;)
      await new Promise<void>((done) => process.stdout.write("x".repeat(1 << 20), () => done()));
  if (mute) return;
  if (command !== undefined) await askFor(turn, command);
  for (;;) {
    const tools = thread.tools.map(({ name, description, inputSchema }) => ({
      ...{ type: "function", name, description, parameters: inputSchema },
    }));
    const items = await callModel(thread, turnId, inputOf(thread), tools, "turn");
    if (faults().startsAChange)
      tell("item/started", {
        ...turn,
        item: { type: "fileChange", id: newId("item"), changes: [], status: "inProgress" },
      });
    let called = false;
    for (const { id: _id, ...item } of items) {
      if (item.type === "message") {
        thread.history.push({ ...item, turnId });
        save(thread);
        tell("item/completed", {
          ...turn,
          item: { type: "agentMessage", id: newId("item"), text: textIn([item]) },
        });
      } else if (item.type === "function_call") {
        called = true;
        thread.history.push({ ...item, turnId });
        const given = JSON.parse(String(item.arguments)) as Json;
        const output =
          item.name === "exec_command"
            ? await runCommand(turn, String(item.call_id), String(given.cmd))
            : await callTool(turn, item, given);
        const result = { type: "function_call_output", call_id: item.call_id, output };
        thread.history.push({ ...result, turnId });
        save(thread);
      }
    }
    tellUsage(thread, turnId);
    if (!called) return;
    await compact(thread, turnId);
  }
}

async function callTool(turn: Json, { call_id: callId, name: tool }: Item, given: Json) {
  const call = { callId, namespace: null, tool, arguments: given };
  const answer = await ask("item/tool/call", { ...turn, ...call });
  return (answer.contentItems as Json[]).map((part) => part.text).join("");
}

/** Told as it begins, and a second time as it ends. */
async function askFor(turn: Json, command: string, id = newId("item")): Promise<Json> {
  const item = { type: "commandExecution", id, command, cwd: "/" };
  const nothing = { aggregatedOutput: null, exitCode: null, durationMs: null };
  tell("item/started", { ...turn, item: { ...item, ...nothing, status: "inProgress" } });
  const { decision } = asksNobody
    ? { decision: "accept" }
    : await ask("item/commandExecution/requestApproval", {
        ...{ ...turn, itemId: id, command, cwd: "/", availableDecisions: ["accept", "decline"] },
      });
  if (decision !== "accept")
    tell("item/completed", { ...turn, item: { ...item, ...nothing, status: "declined" } });
  else if (faults().command !== undefined)
    tell("item/completed", {
      ...turn,
      item: {
        ...{ ...item, status: "completed", aggregatedOutput: "it ran" },
        ...{ exitCode: 0, durationMs: 3 },
      },
    });
  return { ...item, isAllowed: decision === "accept" };
}

/** As the newest thread was begun. */
let asksNobody = false;
const terminals = new Map<string, { threadId: string; kill(): void }>();

/** In a group of its own, which an interrupted turn does not end. */
async function runCommand(turn: Json, id: string, command: string): Promise<string> {
  const { isAllowed, ...item } = await askFor(turn, command, id);
  if (!isAllowed) return "rejected by the person";
  const child = spawn("/bin/sh", ["-c", command], { detached: true });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => {
    output += String(chunk);
  });
  const kill = () => process.kill(-child.pid!, "SIGKILL");
  terminals.set(id, { threadId: String(turn.threadId), kill });
  const over = new Promise<string>((resolve) =>
    child.on("close", (code) => {
      terminals.delete(id);
      const status = code === 0 ? "completed" : "failed";
      const ran = { status, aggregatedOutput: output, exitCode: code ?? -1, durationMs: 3 };
      tell("item/completed", { ...turn, item: { ...item, ...ran } });
      resolve(output);
    }),
  );
  const stop = running?.stop.signal;
  const stopped = new Promise<never>((_, reject) =>
    stop?.addEventListener("abort", () => reject(new Error("interrupted"))),
  );
  return Promise.race([over, stopped]);
}

function ask(method: string, params: Json): Promise<Json> {
  const id = asked++;
  const answered = new Promise<Json>((resolve) => void asking.set(id, resolve));
  if (faults().dieAt === method) process.exit(9);
  write({ id, method, params });
  return answered;
}

function startTurn(params: Json): Json {
  const thread = threadOf(params);
  // The real one steers the turn that runs, in silence.
  if (running?.threadId === thread.id) return { turn: { id: running.turnId } };
  const turnId = newId("turn");
  if (params.model != null) thread.model = String(params.model);
  running = { threadId: thread.id, turnId, stop: new AbortController() };
  const mine = running;
  const end = (status: string, error: Json | null) => {
    if (running === mine) running = undefined;
    tell("turn/completed", { threadId: thread.id, turn: { id: turnId, status, error } });
  };
  setImmediate(() => {
    runTurn(thread, turnId, params.input as Json[]).then(
      () => {
        if (!faults().mute) end("completed", null);
      },
      (thrown: unknown) => {
        if (mine.stop.signal.aborted) return end("interrupted", null);
        const error = errorOf(thrown);
        tell("error", { ...of(thread, turnId), error, willRetry: false });
        end("failed", error);
      },
    );
  });
  return { turn: { id: turnId, status: "inProgress" } };
}

function errorOf(thrown: unknown): Json {
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  if (!(thrown instanceof ModelFailure)) return { message, codexErrorInfo: "other" };
  if (thrown.isOverflow) return { message, codexErrorInfo: "contextWindowExceeded" };
  if (thrown.status === 500) return { message, codexErrorInfo: "internalServerError" };
  return { message, codexErrorInfo: { httpConnectionFailed: { httpStatusCode: thrown.status } } };
}

const METHODS: Record<string, (params: Json) => Json> = {
  initialize: ({ clientInfo }) => ({
    userAgent: `${String((clientInfo as Json).name)}/${faults().version ?? "0.171.0"} (Fake 1)`,
    codexHome: home,
  }),
  "thread/start": openThread,
  "thread/resume": resumeThread,
  "thread/revert": revert,
  "thread/inject_items": (params) => {
    const thread = threadOf(params);
    thread.history.push(...(params.items as Item[]));
    save(thread);
    return {};
  },
  "thread/delete": ({ threadId }) => {
    threads.delete(String(threadId));
    rmSync(fileOf(String(threadId)), { force: true });
    rmSync(lockOf(String(threadId)), { force: true });
    return {};
  },
  "thread/backgroundTerminals/list": ({ threadId }) => ({
    data: [...terminals].flatMap(([itemId, each]) =>
      each.threadId === threadId ? { itemId } : [],
    ),
  }),
  "thread/backgroundTerminals/clean": ({ threadId }) => {
    for (const each of terminals.values()) if (each.threadId === threadId) each.kill();
    return {};
  },
  "thread/unsubscribe": () => ({ status: "unsubscribed" }),
  "turn/start": startTurn,
  "turn/interrupt": ({ turnId }) => {
    if (running?.turnId === turnId && !faults().mute) running?.stop.abort();
    return {};
  },
};

if (process.argv[2] === "app-server") {
  createInterface({ input: process.stdin })
    .on("line", (line) => {
      const { id, method, params, result } = JSON.parse(line) as Json & { id: number };
      if (method === undefined) return void asking.get(id)?.((result ?? {}) as Json);
      if (id === undefined) return;
      const { refuse = [], dieAt } = faults();
      if (dieAt === `before ${String(method)}`) process.exit(9);
      const does = METHODS[String(method)];
      try {
        if (refuse.includes(String(method))) throw refused(`${String(method)} is refused`);
        if (does === undefined) throw refused(`Invalid request: unknown variant ${String(method)}`);
        write({ id, result: does((params ?? {}) as Json) });
      } catch (thrown) {
        write({ id, error: { code: -32_600, message: (thrown as Error).message } });
      }
      if (dieAt === `after ${String(method)}`) process.exit(9);
    })
    .on("close", () => process.exit(0));
}

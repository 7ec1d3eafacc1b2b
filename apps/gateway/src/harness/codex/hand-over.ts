// Hands a turn's context to Codex, as it was planned, or anew where Codex refuses that.
import type { ExecutionItem, ExecutionProjection, ExecutionTurn, LogPort } from "@clew/engine-core";
import type { CodexConfig } from "../../config/harness.ts";
import { contentHash } from "../../text/content-hash.ts";
import { effortOf } from "../effort.ts";
import type { Binding, Bindings, ThreadKey } from "./binding.ts";
import { CodexRefusal } from "./connection.ts";
import {
  developerItem,
  goOnInput,
  inputOf,
  itemsOf,
  MOST_INPUT_CHARS,
  quotedInput,
  type TurnInput,
} from "./items.ts";
import { PROVIDER } from "./plan-home.ts";
import { type ProjectionPlan, planProjection } from "./plan-projection.ts";
import { AnythingSchema, ThreadSchema } from "./protocol.ts";
import type { CodexServer } from "./servers.ts";
import { threadConfig, threadPolicy } from "./thread-config.ts";
import { planToolNames } from "./tool-names.ts";

export interface HandOver {
  turn: ExecutionTurn;
  server: CodexServer;
  bindings: Bindings;
  config: CodexConfig;
  /** Absolute. */
  cwd: string;
  log: LogPort;
  /** Tells what a person should know. */
  notice(text: string): void;
}

/** A thread that waits for its turn. */
export interface ReadyThread {
  threadId: string;
  /** Null: it is for this turn alone. */
  binding: Binding | null;
  input: TurnInput[];
  projection: ExecutionProjection;
}

/** The thread has what it needs; what is known of it is durable. */
export async function handOver(given: HandOver): Promise<ReadyThread> {
  const { turn, bindings, config } = given;
  const binding = await bindings.read(turn.session);
  const key = keyOf(given);
  const plan = planProjection({
    ...{ binding, key, sessionId: turn.session.sessionId },
    addition: additionHash(turn),
    history: turn.history.map(({ message, id }) => ({ ids: idsOf(message, id) })),
    canAdd: config.projection === "items",
  });
  if (plan.kind === "per-turn" || key === null) return begin(given, { ...plan, key: null });
  if (plan.kind === "new" || binding === null) return begin(given, { ...plan, key });
  try {
    return await goOn(given, binding, plan);
  } catch (error) {
    if (!(error instanceof CodexRefusal)) throw error;
    const reason = `Codex refused ${error.method}`;
    given.log.warn(`${reason} of thread ${plan.threadId}: ${error.message}`);
    given.notice(`${reason}: the conversation goes on in another thread.`);
    return begin(given, { key, reason, replaces: plan.threadId });
  }
}

/** Also of what a policy joined to it, the newest last. */
const idsOf = (message: ExecutionItem["message"], id: string | null): string[] => {
  const { merged = [] } = message.__openclaw ?? {};
  return [...(id === null ? [] : [id]), ...merged];
};

const namesOf = ({ tools }: ExecutionTurn) => planToolNames(tools.map(({ name }) => name));

const additionHash = ({ addition }: ExecutionTurn): string => contentHash(addition ?? "");

const instructionsOf = ({ system }: ExecutionTurn): string =>
  system.map(({ text }) => text).join("\n\n");

/** Without an epoch no thread is used twice. */
function keyOf({ turn, config, cwd }: HandOver): ThreadKey | null {
  const { projection, engine, tools, model } = turn;
  if (projection?.mode !== "thread_bootstrap" || projection.epoch === null) return null;
  const { epoch, fingerprint } = projection;
  return {
    ...{ epoch, fingerprint: fingerprint ?? "", engine: engine.id, cwd },
    // Codex goes on with what a thread was told once.
    effort: effortOf(turn) ?? "",
    instructions: contentHash(instructionsOf(turn)),
    tools: contentHash(JSON.stringify(tools)),
    config: contentHash(
      JSON.stringify([config.projection, threadConfig(config, 0), threadPolicy(config)]),
    ),
    provider: model.provider,
  };
}

/** For start and resume alike: what is not said again is not kept. */
const threadParams = ({ turn, config, cwd }: HandOver) => ({
  ...{ model: turn.model.id, modelProvider: PROVIDER, cwd, ...threadPolicy(config) },
  baseInstructions: instructionsOf(turn),
  config: threadConfig(config, turn.model.contextWindow),
});

interface Beginning {
  /** Null: nobody is to find the thread again. */
  key: ThreadKey | null;
  reason: string;
  replaces?: string | null;
}

/** Another thread, which gets all that the engine chose. */
async function begin(
  given: HandOver,
  { key, reason, replaces = null }: Beginning,
): Promise<ReadyThread> {
  const { turn, server, bindings, config } = given;
  const { connection } = server;
  const { thread } = await connection.request(
    "thread/start",
    {
      ...threadParams(given),
      developerInstructions: turn.addition ?? "",
      ephemeral: key === null,
      dynamicTools: turn.tools.map(({ name, description, parameters }) => ({
        ...{ type: "function", name: namesOf(turn).theirs(name) },
        ...{ description, inputSchema: parameters },
      })),
    },
    ThreadSchema,
  );
  server.loaded.add(thread.id);
  const addition = additionHash(turn);
  const binding: Binding | null =
    key === null
      ? null
      : {
          ...{ v: 1, sessionKey: turn.session.sessionKey, sessionId: turn.session.sessionId },
          ...{ threadId: thread.id, key, firstAddition: addition, addition },
          ...{ through: throughOf(turn.history), withIt: [] },
          totalTokens: 0,
          state: { name: "opening" },
        };
  if (binding !== null) await bindings.save(turn.session, binding);
  if (replaces !== null && config.deleteOldThreads) void deleteThread(given, replaces);
  const { as, input } = await giveAll(given, thread.id);
  return {
    ...{ threadId: thread.id, binding, input },
    projection: {
      ...{ thread: key === null ? "per-turn" : "new", threadId: thread.id, reason, as },
      handed: turn.history.length + turn.turn.length,
    },
  };
}

/** Ours and bound no longer. */
async function deleteThread({ server, log }: HandOver, threadId: string): Promise<void> {
  try {
    await server.connection.request("thread/delete", { threadId }, AnythingSchema);
    server.loaded.delete(threadId);
  } catch (error) {
    log.info(`Codex kept thread ${threadId}: ${error instanceof Error ? error.message : "?"}`);
  }
}

/**
 * The context as messages of their own; as quoted text where the settings want that, or where
 * Codex takes none.
 */
async function giveAll(
  given: HandOver,
  threadId: string,
): Promise<{ as: "items" | "quoted"; input: TurnInput[] }> {
  const { turn, config } = given;
  const before = contextOf(turn);
  const request = requestOf(turn);
  if (config.projection === "items")
    try {
      await add(given, threadId, itemsOf(before, namesOf(turn)));
      return { as: "items", input: request };
    } catch (error) {
      if (!(error instanceof CodexRefusal)) throw error;
      given.log.warn(`Codex refused the context as messages: ${error.message}`);
      given.notice(
        "Codex took no messages into its thread: they are quoted in front of the request.",
      );
    }
  return { as: "quoted", input: [...quotedInput(before, roomBeside(request)), ...request] };
}

/** In another attempt the request stands there, with what was done about it. */
const contextOf = ({ history, turn }: ExecutionTurn): readonly ExecutionItem[] =>
  turn.length > 1 ? [...history, ...turn] : history;

function requestOf({ turn }: ExecutionTurn): TurnInput[] {
  const [prompt] = turn;
  return turn.length > 1 || prompt === undefined ? goOnInput() : inputOf(prompt.message);
}

const roomBeside = (request: readonly TurnInput[]): number =>
  MOST_INPUT_CHARS -
  request.reduce((chars, part) => chars + (part.type === "text" ? part.text.length : 0), 0);

async function add(
  { server }: HandOver,
  threadId: string,
  items: readonly object[],
): Promise<void> {
  if (items.length === 0) return;
  await server.connection.request("thread/inject_items", { threadId, items }, AnythingSchema);
}

/** The thread that there is, with what it lacks; a refusal is thrown. */
async function goOn(
  given: HandOver,
  binding: Binding,
  plan: Extract<ProjectionPlan, { kind: "continue" }>,
): Promise<ReadyThread> {
  const { turn, server, bindings } = given;
  const { threadId, revert, missing, tellsAddition, reason } = plan;
  const { connection, loaded } = server;
  if (!loaded.has(threadId) || revert !== null)
    await bindings.save(turn.session, { ...binding, state: { name: "resuming" } });
  if (!loaded.has(threadId)) {
    const params = { threadId, excludeTurns: true, ...threadParams(given) };
    await connection.request("thread/resume", params, ThreadSchema);
    loaded.add(threadId);
  }
  if (revert !== null)
    await connection.request("thread/revert", { threadId, beforeTurnId: revert }, AnythingSchema);
  const lacking = missing === 0 ? [] : turn.history.slice(-missing);
  const attempted = turn.turn.length > 1 ? turn.turn : [];
  const added = [
    ...itemsOf([...lacking, ...attempted], namesOf(turn)),
    ...(tellsAddition ? [developerItem(additionText(turn))] : []),
  ];
  if (added.length > 0) {
    await bindings.save(turn.session, { ...binding, state: { name: "adding" } });
    await add(given, threadId, added);
  }
  const ready: Binding = {
    ...binding,
    through: throughOf([...lacking, ...attempted]) ?? binding.through,
    addition: additionHash(turn),
    state: { name: "running", turnId: null },
  };
  await bindings.save(turn.session, ready);
  return {
    ...{ threadId, binding: ready, input: requestOf(turn) },
    projection: {
      ...{ thread: "continued", threadId, reason, as: "items" },
      handed: lacking.length + turn.turn.length,
      ...(binding.isCompacted === true && { isCompacted: true as const }),
    },
  };
}

const additionText = ({ addition }: ExecutionTurn): string =>
  addition === null
    ? "What the context engine told here before no longer holds."
    : `In place of what the context engine told here before:\n\n${addition}`;

/** The newest of them that has an id. */
const throughOf = (items: readonly ExecutionItem[]): string | null =>
  items.flatMap(({ message, id }) => idsOf(message, id)).at(-1) ?? null;

// Calls of the engine, and what the host makes of their results.
import type { AgentMessage, AssembleResult, TranscriptEntryAnchor } from "@clew/plugin-sdk/core";
import { pause } from "@clew/plugin-sdk/host";
import { textOf, withMessageId } from "@clew/plugin-sdk/transcript";
import { describeError } from "../../engine/quarantine.ts";
import { excessOf } from "../../request/request-size.ts";
import { resolveView } from "../../request/resolve-view.ts";
import {
  joinItems,
  MADE_BY_POLICY,
  messagesOf,
  type ViewItem,
  withEngineReasons,
  withSummaries,
} from "../../request/view-item.ts";
import { contextItems, indexOfMessage, refreshContext } from "../../session/session-state.ts";
import type { ToldMessage } from "../../session/told-messages.ts";
import type { HostSession } from "../../transcript-port.ts";
import type { Delivery } from "../delivery.ts";
import type { Ask } from "../effects.ts";
import type { Answer, Choice } from "../facts.ts";
import { hostParams } from "./engine-params.ts";
import { noteFirstLook, runningTurn } from "./transcript.ts";
import { ledgerOf, sessionFileOf, sessionOf, throwIfFatal, type World } from "./world.ts";

type Asked<Do extends Ask["do"]> = Extract<Ask, { do: Do }>;
type Answered<Type extends Answer["type"]> = Extract<Answer, { type: Type }>;

/** A failure is logged and the run goes on (contract §3.1 step 2). */
export async function bootstrap(world: World): Promise<Answered<"bootstrapped">> {
  const { engine, ports } = world;
  noteFirstLook(world);
  try {
    await engine.bootstrap?.({
      ...hostParams(world, "before-turn"),
      ...sessionFileOf(world),
    });
    return { type: "bootstrapped", ok: engine.degraded === null };
  } catch (error) {
    throwIfFatal(world, error);
    ports.log.warn(`context engine bootstrap failed: ${describeError(error)}`);
    return { type: "bootstrapped", ok: false };
  }
}

/** Asks for a choice; the answer is resolved to what the host knows. */
export async function assemble(
  world: World,
  asked: Asked<"assemble">,
): Promise<Answered<"assembled" | "not-assembled">> {
  const turn = runningTurn(world, asked.promptId);
  const given = asked.withTurn ? joinItems(asked.items, turn) : asked.items;
  try {
    const result = await world.engine.assemble({
      ...assembleParams(world, asked, turn),
      messages: messagesOf(given).slice(),
    });
    return {
      type: "assembled",
      again: asked.again,
      turn,
      choice: await choiceOf(world, result, given),
    };
  } catch (error) {
    throwIfFatal(world, error);
    return { type: "not-assembled", reason: describeError(error) };
  }
}

function assembleParams(world: World, asked: Asked<"assemble">, turn: readonly ViewItem[]) {
  const { again, withTurn } = asked;
  const { setup } = world;
  const { model, settings, tools } = setup;
  const { sessionTarget, runtimeContext, ...params } = hostParams(world, "before-turn");
  // Not of the contract's parameters; what is declared and not named is left out later.
  const declares = setup.engine.info.acceptedHostParams !== undefined;
  return {
    ...params,
    ...(declares && { sessionTarget, runtimeContext }),
    tokenBudget: roomFor(world, asked, turn),
    model: `${model.provider}/${model.id}`,
    ...(!withTurn && {
      availableTools: new Set(tools.map((tool) => tool.name)),
      prompt: textOf({ role: "user", content: setup.prompt.content }),
    }),
    ...(!again &&
      settings.citationsMode !== undefined && { citationsMode: settings.citationsMode }),
  };
}

/**
 * Tokens for what the engine returns: without the running turn where the host adds that itself (of
 * which the budget left out the prompt), and without what estimates are known to miss.
 */
function roomFor(
  { setup, state }: World,
  { promptId, withTurn }: Asked<"assemble">,
  turn: readonly ViewItem[],
): number {
  const { budget, settings, fixedTokens } = setup;
  const { tokenRatio } = settings;
  const { items, measurement } = state;
  const replyId = measurement && "replyId" in measurement ? measurement.replyId : undefined;
  const reply = items[indexOfMessage(items, replyId)]?.message;
  const { promptBudget } = budget;
  const excess = excessOf(state, reply, { fixedTokens, tokenRatio, promptBudget });
  const beside = withTurn ? [] : turn.filter(({ id }) => id !== promptId);
  const added = state.turnSums.total(messagesOf(beside)).estimate;
  return Math.max(1, budget.tokenBudget - Math.ceil(excess + added));
}

/** Every step looks at the whole view. */
async function choiceOf(
  world: World,
  result: AssembleResult,
  given: readonly ViewItem[],
): Promise<Choice> {
  const { ports, setup, state } = world;
  await pause();
  const resolved = resolveView(result.messages, given, state.table);
  const named = withSummaries(resolved.items, result.summaries);
  const chosen = withEngineReasons(named, result.reasons);
  const messages = messagesOf(chosen);
  await pause();
  const repaired = ports.policy?.repairPairing({ messages, model: setup.model });
  await pause();
  const items =
    repaired === undefined || repaired.messages === messages
      ? chosen
      : resolveView(repaired.messages, chosen, state.table, MADE_BY_POLICY).items;
  const { contextProjection: projection } = result;
  await pause();
  return {
    items,
    aligned: resolved.aligned,
    repairs: repaired?.changes ?? [],
    sum: state.assemblySums.total(messagesOf(items)),
    addition: result.systemPromptAddition,
    engineEstimate: usableEstimate(result.estimatedTokens),
    promptAuthority: result.promptAuthority ?? "assembled",
    projection: projection ?? null,
  };
}

/** 0, negative and NaN mean that the engine did not estimate. */
const usableEstimate = (tokens: number | undefined) =>
  tokens !== undefined && Number.isFinite(tokens) && tokens > 0 ? tokens : null;

/** Delivered is what the engine itself took: the fallback stores nothing on its behalf. */
export async function deliver(
  world: World,
  { delivery, history }: Asked<"deliver">,
): Promise<Answered<"delivered">> {
  try {
    await handOver(world, delivery, history);
    const { degraded } = world.engine;
    return {
      type: "delivered",
      turnId: delivery.turn.id,
      ok: degraded === null,
      reason: degraded?.reason ?? "",
    };
  } catch (error) {
    throwIfFatal(world, error);
    return { type: "delivered", turnId: delivery.turn.id, ok: false, reason: describeError(error) };
  }
}

async function handOver(
  world: World,
  delivery: Delivery,
  history: readonly ViewItem[],
): Promise<void> {
  const { engine, setup } = world;
  const { turn, method } = delivery;
  const { sessionId, sessionKey } = sessionOf(world);
  const isHeartbeat = turn.kind === "heartbeat";
  const messages = delivery.messages.map((told) => canonicalOf(world, told));
  switch (method) {
    case "commitTurn":
      if (messages.length > 0)
        await engine.commitTurn?.({ ...commitParams(world, turn), messages, isHeartbeat });
      return;
    case "afterTurn": {
      const before = messagesBefore(world, history, delivery);
      await engine.afterTurn?.({
        ...hostParams(world, "after-turn"),
        ...sessionFileOf(world),
        messages: before.concat(messages),
        prePromptMessageCount: before.length,
        isHeartbeat,
        tokenBudget: setup.budget.tokenBudget,
      });
      return;
    }
    case "ingestBatch":
      await engine.ingestBatch?.({ sessionId, sessionKey, messages, isHeartbeat });
      return;
    case "ingest":
      for (const message of messages)
        await engine.ingest({ sessionId, sessionKey, message, isHeartbeat });
  }
}

/** The active list up to what is new: the history the engine chose from, then the turn so far. */
function messagesBefore(
  world: World,
  history: readonly ViewItem[],
  { turn, messages }: Delivery,
): AgentMessage[] {
  const all = [...turn.notes, ...turn.messages];
  const items = refreshContext(world.state);
  const start = indexOfMessage(items, all[0]?.id);
  const past = start < 0 ? history : contextItems(world.state, 0, start);
  const known = all.slice(
    0,
    all.findIndex(({ id }) => id === messages[0]?.id),
  );
  return [...messagesOf(past), ...known.map((told) => canonicalOf(world, told))];
}

/** An entry of an older file does not carry its id yet. */
const canonicalOf = ({ state }: World, { id, message }: ToldMessage): AgentMessage =>
  state.table.canonical(withMessageId(message, id));

function commitParams(world: World, turn: Delivery["turn"]) {
  const session = sessionOf(world);
  const root = ledgerOf(world).read(world.setup.engine.id)?.root || session.sessionId;
  const advancementKey = `${root}:${turn.id}`;
  return {
    ...hostParams(world, "after-turn"),
    advancementKey,
    admission: {
      ...anchor(session, turn.messages[0]!),
      logicalTurnId: advancementKey,
      role: "user" as const,
    },
    terminal: anchor(session, turn.messages.at(-1)!),
  };
}

function anchor(
  { agentId, sessionId, sessionKey, sessionFile }: HostSession,
  { entry, message, rawSeq, position }: ToldMessage,
): TranscriptEntryAnchor {
  return {
    agentId,
    sessionId,
    sessionKey,
    ...(sessionFile !== undefined && { storePath: sessionFile }),
    generation: 0,
    entryId: entry.id,
    rawSeq,
    effectiveParentId: entry.parentId,
    activeMessagePosition: position,
    ...(message.idempotencyKey !== undefined && { idempotencyKey: message.idempotencyKey }),
  };
}
